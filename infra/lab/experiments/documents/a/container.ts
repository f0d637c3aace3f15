// Document A's container in this store: get, put and delete among 300 rows of 100 kB together, with each of the store's codecs.
import { recordSource, type RecordFields } from '../../../../../shared/lab/work/records.ts';
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { memoryDriver } from '../../../../../shared/drivers/memory.ts';
import { type CodecName, openStore, type Store, type Table } from '../../../../../shared/store/index.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { PUBLISHED } from '../../published/published.ts';
import { type Column, figureOf, type FigureTable, type Row } from '../../results.ts';
import { alternatingRuns, taken, type Variant } from '../../rounds.ts';
import { MSGPACK } from '../codecs/codecs.ts';
import { ROUNDS } from './six-columns.ts';

const ROWS = 300;
/** 100 kB in 300 rows. */
const ROW_BYTES = 333;
/** Lone operations of each kind a round, one in flight. */
const OPERATIONS = 30;
const VERBS = ['get', 'put', 'delete'] as const;
const THEN = PUBLISHED.serializers_gae_2008.container_300_rows_100kB_pickle;

const PLACES = [
  { id: 'memory', where: 'memory driver, processor time' },
  { id: 'datastore', where: 'Datastore emulator' },
  { id: 'azure-tables', where: 'Azurite' },
] as const;

type Place = (typeof PLACES)[number]['id'];

/** What each codec is given for a record. */
const CODECS: readonly { readonly codec: CodecName; readonly valueOf: (fields: RecordFields) => unknown }[] = [
  { codec: 'msgpack', valueOf: (fields) => fields },
  { codec: 'json', valueOf: (fields) => fields },
  { codec: 'bytes', valueOf: (fields) => Buffer.from(JSON.stringify(fields)) },
  { codec: 'encoded', valueOf: (fields) => ({ codec: 'msgpack', bytes: MSGPACK.encode({ ...fields }) }) },
];

/** The document's container kept its rows by pickle; msgpack, the store's default, stands in for it. */
const BASELINE = 'msgpack';

export async function containerTable(context: ExperimentContext): Promise<FigureTable> {
  const stores = new Map<Place, Promise<Store>>();
  const storeAt = (place: Place): Promise<Store> => {
    const opened = stores.get(place) ?? openAt(context, place);
    stores.set(place, opened);
    return opened;
  };
  try {
    const variants = PLACES.flatMap(({ id }) => CODECS.map((way) => variantOf(id, way, () => storeAt(id))));
    const cells = await alternatingRuns(context, { rounds: ROUNDS }, variants);
    return {
      id: 'container',
      title: 'Get, put and delete in a container of 300 rows',
      about: `100 kB in ${ROWS} rows, ${OPERATIONS} lone operations of each kind a round, ${ROUNDS} rounds after one for warming up. Then every operation read, decoded, encoded and wrote the whole container. The memory driver shows the processor's part alone.`,
      columns: VERBS.flatMap(columnsOf),
      rows: CODECS.map(({ codec }): Row => {
        const now = cells.get(codec) ?? {};
        if (codec !== BASELINE) return { id: codec, name: `codec "${codec}"`, against: BASELINE, figures: now };
        const then = Object.fromEntries(VERBS.map((verb) => [`then-${verb}`, figureOf([THEN.operation_ms])]));
        const standIn = 'msgpack, the default codec';
        return { id: codec, name: 'pickle', standIn, against: BASELINE, figures: { ...then, ...now } };
      }),
    };
  } finally {
    // Those of emulators are closed with them.
    await (await stores.get('memory'))?.close();
  }
}

function columnsOf(verb: string): Column[] {
  const column = { measure: verb, unit: 'ms', better: 'lower' } as const;
  return [
    { ...column, id: `then-${verb}`, era: 'then', where: 'App Engine, 2008' },
    ...PLACES.map(({ id, where }) => ({ ...column, id: `${id}-${verb}`, era: 'now' as const, where })),
  ];
}

async function openAt(context: ExperimentContext, place: Place): Promise<Store> {
  if (place === 'memory') return openStore({ driver: memoryDriver() });
  const provider: Provider = place;
  return (await context.emulator(provider)).store();
}

function variantOf(place: Place, { codec, valueOf }: (typeof CODECS)[number], open: () => Promise<Store>): Variant {
  const source = recordSource(1, ROW_BYTES);
  const timeOf = async (work: () => Promise<void>): Promise<number> => {
    const { cpuMs, wallMs } = await taken(work);
    return (place === 'memory' ? cpuMs : wallMs) / OPERATIONS;
  };
  return {
    row: codec,
    columns: VERBS.map((verb) => `${place}-${verb}`),
    run: async (round) => {
      const table = await (await open()).table(`container-${codec}`, { codec });
      const items = Array.from({ length: ROWS }, (_, index) => source(index, round)).map(({ key, fields }) => ({
        key,
        value: valueOf(fields),
      }));
      await fill(table, items);
      // Spread over the table: neighbours share a page.
      const some = items.filter((_, index) => index % (ROWS / OPERATIONS) === 0);
      const put = await timeOf(async () => {
        for (const { key, value } of some) await table.put(key, value);
      });
      const get = await timeOf(async () => {
        for (const { key } of some) if ((await table.get(key)) === undefined) throw new Error(`absent: ${key}`);
      });
      const removed = await timeOf(async () => {
        for (const { key } of some) await table.delete(key);
      });
      return { [`${place}-put`]: put, [`${place}-get`]: get, [`${place}-delete`]: removed };
    },
  };
}

async function fill(table: Table<unknown>, items: readonly { key: string; value: unknown }[]): Promise<void> {
  for (const outcome of await table.putMany(items)) if (outcome.status === 'failed') throw outcome.error;
}
