// What one operation of document A's own container costs today: the whole container read, decoded, encoded and written for each operation.
import { recordSource } from '../../../../../shared/lab/work/records.ts';
import { type Provider, PROVIDERS } from '../../../../../shared/lab/kit/dimensions.ts';
import type { Driver, EntityId, PartName } from '../../../../../shared/store/index.ts';
import type { ExperimentContext } from '../../experiment.ts';
import { PUBLISHED } from '../../published/published.ts';
import { type Column, figureOf, type FigureTable, type Row } from '../../results.ts';
import { alternatingRuns, taken, type Variant } from '../../rounds.ts';
import { MSGPACK } from '../codecs/codecs.ts';
import { typicalMs } from '../codecs/typical.ts';
import { ROUNDS } from './six-columns.ts';

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

export async function partsTable(context: ExperimentContext): Promise<FigureTable> {
  const drivers = new Map<Provider, Driver>();
  try {
    const cells = await alternatingRuns(
      context,
      { rounds: ROUNDS },
      PROVIDERS.map((provider) => partsVariant(context, provider, drivers)),
    );
    return {
      id: 'parts',
      title: 'Where an operation of the document’s container spends its time',
      about: `${ROWS} rows, 100 kB, in one entity; each operation reads, decodes, encodes and writes all of it: pickle then, msgpack now. The document's own sum is rounded. ${ROUNDS} rounds of ${OPERATIONS}.`,
      columns: [
        column('printed', 'then', 'App Engine, 2008'),
        column('datastore', 'now', 'Datastore emulator'),
        column('azure-tables', 'now', 'Azurite'),
      ],
      rows: PARTS.map(({ id, name, printedMs }): Row => {
        const now = PROVIDERS.map((provider) => [provider, cells.get(provider)?.[id] ?? figureOf([])] as const);
        return {
          id,
          name,
          against: BASELINE,
          figures: { printed: figureOf([printedMs]), ...Object.fromEntries(now) },
        };
      }),
    };
  } finally {
    for (const driver of drivers.values()) await driver.close();
  }
}

function column(id: string, era: Column['era'], where: string): Column {
  return { id, era, where, measure: 'time', unit: 'ms', better: 'lower' };
}

/** The row is the provider here: its columns become the table's rows. */
function partsVariant(context: ExperimentContext, provider: Provider, drivers: Map<Provider, Driver>): Variant {
  const source = recordSource(1, ROW_BYTES);
  const rows = Array.from({ length: ROWS }, (_, index) => source(index, 0));
  const dictionary = Object.fromEntries(rows.map(({ key, fields }) => [key, fields]));
  const bytes = Uint8Array.from(MSGPACK.encode(dictionary));
  return {
    row: provider,
    columns: PARTS.map(({ id }) => id),
    run: async (round) => {
      const driver = drivers.get(provider) ?? (await context.emulator(provider)).driver('parts');
      drivers.set(provider, driver);
      const ids = Array.from({ length: OPERATIONS }, (_, index) => `container-${round}-${index}` as EntityId);
      const writing = await taken(async () => {
        for (const id of ids) await insert(driver, id, bytes);
      });
      const reading = await taken(async () => {
        for (const id of ids) await driver.read([{ id, parts: 'all' }], CALL);
      });
      const [read, write] = [reading.wallMs / OPERATIONS, writing.wallMs / OPERATIONS];
      const encode = typicalMs(() => MSGPACK.encode(dictionary));
      const decode = typicalMs(() => MSGPACK.decode(bytes));
      return { read, write, encode, decode, [BASELINE]: read + decode + encode + write };
    },
  };
}

async function insert(driver: Driver, id: EntityId, bytes: Uint8Array): Promise<void> {
  const [outcome] = await driver.write([{ kind: 'insert', id, parts: [{ name: PART, bytes, chunksBefore: 0 }] }], CALL);
  if (outcome?.kind !== 'written') throw new Error(`the container was not written: ${outcome?.kind}`);
}
