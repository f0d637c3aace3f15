// The store's codecs and compressions on the memory driver: processor time and stored bytes.
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import { chunks } from '../../../../shared/lab/kit/chunks.ts';
import { sum } from '../../../../shared/lab/kit/numbers.ts';
import { spentOn } from '../../../../shared/lab/load/spent.ts';
import type { Column, FigureTable, Row } from '../../../../shared/lab/report/chapters/schema.ts';
import { recordSource, type RecordFields } from '../../../../shared/lab/work/records.ts';
import { type Driver, openStore, type Table } from '../../../../shared/store/index.ts';
import { entitySizes } from '../../stored-bytes.ts';
import type { ExperimentContext } from '../experiment.ts';
import { alternatingRuns, type Numbers, type Variant } from '../rounds.ts';

const RECORDS = 3_000;
const RECORD_BYTES = 500;
/** No document had this table: more rounds than it had, as the ways differ by little. */
const ROUNDS = 5;
const LOADED_PER_CALL = 1_000;
const LONE_OPERATIONS = 500;

const DEFAULT_WAY = 'msgpack+zstd';

const WAYS = (['msgpack', 'json'] as const).flatMap((codec) =>
  (['zstd', 'none'] as const).map((compression) => ({ id: `${codec}+${compression}`, codec, compression })),
);

const COLUMNS: readonly Column[] = [
  { id: 'stored', measure: 'stored a record', unit: 'bytes' },
  { id: 'load', measure: 'load a record', unit: 'ms' },
  { id: 'put', measure: 'put', unit: 'ms' },
  { id: 'get', measure: 'get', unit: 'ms' },
  { id: 'scan', measure: 'scan a record', unit: 'ms' },
].map((column) => ({ ...column, era: 'now', where: 'memory driver, processor time', better: 'lower' }));

export async function defaultsTable(context: ExperimentContext): Promise<FigureTable> {
  const cells = await alternatingRuns(context, { rounds: ROUNDS }, WAYS.map(variantOf));
  return {
    id: 'defaults',
    title: 'The store’s codecs and compressions on real text',
    about: `${RECORDS.toLocaleString('en-US')} records of ${RECORD_BYTES} bytes of English business text, loaded ${LOADED_PER_CALL.toLocaleString('en-US')} a call, then ${LONE_OPERATIONS} lone puts and gets, then a scan; ${ROUNDS} rounds. Processor time of the whole process, all threads. Stored: whole entities by the driver's count.`,
    columns: COLUMNS,
    rows: WAYS.map(({ id, codec, compression }): Row => ({
      id,
      name: `${codec} + ${compression}`,
      against: DEFAULT_WAY,
      figures: cells.get(id) ?? {},
      ...(id === DEFAULT_WAY ? { marks: ['the store’s default'] } : {}),
    })),
  };
}

function variantOf({ id, codec, compression }: (typeof WAYS)[number]): Variant {
  return {
    row: id,
    columns: COLUMNS.map((column) => column.id),
    run: async (round) => {
      const driver = memoryDriver();
      const store = openStore({ driver, compression });
      try {
        return await operate(await store.table('records', { codec }), driver, round);
      } finally {
        await store.close();
      }
    },
  };
}

async function operate(table: Table<RecordFields>, driver: Driver, round: number): Promise<Numbers> {
  const source = recordSource(1, RECORD_BYTES);
  const records = Array.from({ length: RECORDS }, (_, index) => source(index, round));
  const load = await processorMs(async () => {
    for (const some of chunks(records, LOADED_PER_CALL)) {
      const outcomes = await table.putMany(some.map(({ key, fields }) => ({ key, value: fields })));
      for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
    }
  });
  const stored = sum(await entitySizes(driver, false));
  const lone = records.filter((_, index) => index % Math.floor(RECORDS / LONE_OPERATIONS) === 0);
  const put = await processorMs(async () => {
    for (const { key, fields } of lone) await table.put(key, fields);
  });
  const get = await processorMs(async () => {
    for (const { key } of lone) if ((await table.get(key)) === undefined) throw new Error(`absent: ${key}`);
  });
  let scanned = 0;
  const scan = await processorMs(async () => {
    for await (const { value } of table.scan()) scanned += value === undefined ? 0 : 1;
  });
  if (scanned !== RECORDS) throw new Error(`the scan gave ${scanned} of ${RECORDS} records`);
  return {
    stored: stored / RECORDS,
    load: load / RECORDS,
    put: put / lone.length,
    get: get / lone.length,
    scan: scan / RECORDS,
  };
}

async function processorMs(work: () => Promise<void>): Promise<number> {
  return (await spentOn(work)).processorUs / 1_000;
}
