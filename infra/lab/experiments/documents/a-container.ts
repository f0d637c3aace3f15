// Document A's own container of 300 rows and 100 kB: an operation reads and writes all of it.
import { spentOn } from '../../../../shared/lab/load/spent.ts';
import { recordSource } from '../../../../shared/lab/work/records.ts';
import { type Provider, PROVIDERS } from '../../../../shared/lab/kit/dimensions.ts';
import type { Driver, EntityId, PartName } from '../../../../shared/store/index.ts';
import type { ExperimentContext } from '../experiment.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import {
  type Column,
  type Figure,
  figureOf,
  type FigureTable,
  type Row,
} from '../../../../shared/lab/report/chapters/schema.ts';
import { alternatingRuns, type Numbers, type Variant } from '../rounds.ts';
import { MSGPACK } from './codecs/codecs.ts';
import { typicalMs } from './codecs/typical.ts';

const ROWS = 300;
const ROW_BYTES = 333;
const OPERATIONS = 5;
const CALL = { timeoutMs: 10_000 };
const PART = 'p0' as PartName;
const THEN = PUBLISHED.serializers_gae_2008.container_300_rows_100kB_pickle;
const BASELINE = 'operation';

const PARTS = [
  { id: 'read', name: 'read the entity', printedMs: THEN.read_ms },
  { id: 'decode', name: 'decode', printedMs: THEN.decode_ms },
  { id: 'encode', name: 'encode', printedMs: THEN.encode_ms },
  { id: 'write', name: 'write the entity', printedMs: THEN.write_ms },
  { id: BASELINE, name: 'the whole operation', printedMs: THEN.operation_ms },
] as const;

export async function containerTable(context: ExperimentContext, rounds: number): Promise<FigureTable> {
  const variants = PROVIDERS.map((provider) => containerVariant(context, provider));
  const cells = await alternatingRuns(context, { rounds }, variants);
  return {
    id: 'container',
    title: 'Where an operation on the document’s container spends its time',
    about: `${ROWS} rows, 100 kB. Then every operation read, decoded, encoded and wrote all of them: pickle then, msgpack now. The document's own sum is rounded. ${rounds} rounds of ${OPERATIONS}.`,
    columns: [
      column('printed', 'then', 'App Engine, 2008'),
      column('datastore', 'now', 'Datastore emulator'),
      column('azure-tables', 'now', 'Azurite'),
    ],
    rows: PARTS.map(({ id, name, printedMs }): Row => {
      const now = PROVIDERS.map((provider): [string, Figure] => [provider, cells.get(provider)![id]!]);
      return { id, name, against: BASELINE, figures: { printed: figureOf([printedMs]), ...Object.fromEntries(now) } };
    }),
  };
}

function column(id: string, era: Column['era'], where: string): Column {
  return { id, era, where, measure: 'time', unit: 'ms', better: 'lower' };
}

/** The row is the provider here: its columns become the table's rows. */
function containerVariant(context: ExperimentContext, provider: Provider): Variant {
  const columns = PARTS.map(({ id }) => id);
  return { row: provider, columns, run: (round) => wholeOperation(context, provider, round) };
}

const source = recordSource(1, ROW_BYTES);

async function wholeOperation(context: ExperimentContext, provider: Provider, round: number): Promise<Numbers> {
  const records = Array.from({ length: ROWS }, (_, index) => source(index, 0));
  const dictionary = Object.fromEntries(records.map(({ key, fields }) => [key, fields]));
  const bytes = Uint8Array.from(MSGPACK.encode(dictionary));
  const ids = Array.from({ length: OPERATIONS }, (_, index) => `container-${round}-${index}` as EntityId);
  const driver = (await context.emulator(provider)).driver('parts');
  try {
    const write = await meanMs(ids, (id) => insert(driver, id, bytes));
    const read = await meanMs(ids, (id) => driver.read([{ id, parts: 'all' }], CALL));
    const [encode, decode] = [typicalMs(() => MSGPACK.encode(dictionary)), typicalMs(() => MSGPACK.decode(bytes))];
    return { read, write, encode, decode, [BASELINE]: read + decode + encode + write };
  } finally {
    await driver.close();
  }
}

async function insert(driver: Driver, id: EntityId, bytes: Uint8Array): Promise<void> {
  const [outcome] = await driver.write([{ kind: 'insert', id, parts: [{ name: PART, bytes, chunksBefore: 0 }] }], CALL);
  if (outcome?.kind !== 'written') throw new Error(`the container was not written: ${outcome?.kind}`);
}

/** One after the other. */
async function meanMs<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<number> {
  const { wallMs } = await spentOn(async () => {
    for (const item of items) await work(item);
  });
  return wallMs / items.length;
}
