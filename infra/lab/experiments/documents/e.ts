// Document E: what single, batched and cached operations take and cost, and what callers bring.
import { type Figure, figureOf } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { Experiment } from '../experiment.ts';
import { documentOf, type DocumentPlan, type PlannedRow, PRICES } from '../plan.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import { REQUEST, type Way } from '../ways.ts';
import { findingsOf } from './e-findings.ts';

const THEN = PUBLISHED.gae_operations_2011;

const FULL = {
  rounds: 3,
  /** Records that are there to be read. */
  loaded: 10_000,
  recordCounts: THEN.records,
  /** Numbers of callers; the first is what the others are set against. */
  callers: [1, 2, 5, 10, 32, 100],
  /** Requests of each crowd a round, two of each caller at least. */
  requests: 60,
};

type Options = typeof FULL;

const CHARACTERS = 500;
/** The customary size of a commit, and the limit of a group transaction. */
const WRITES_MAX = { datastore: 500, 'azure-tables': 100 } as const;
/** Keys that the baseline takes at once, and entities that a query on Azure gives in one answer. */
const READS_MAX = { datastore: 500, 'azure-tables': 1_000 } as const;
/** Batches on their way at a time, where one does not take all. */
const BATCHES_IN_FLIGHT = 8;
/** Work of a few records is repeated until it was so many. */
const RECORDS_MIN = 20;

export function experimentE(options: Options = FULL): Experiment {
  const { rounds, loaded, recordCounts, callers } = options;
  const [speeds, crowds] = [recordCounts.map(speedRows), callerRows(options)];
  const most = recordCounts.at(-1)!;
  return documentOf({
    id: 'e',
    title: 'Google App Engine: speed of data operations',
    question: 'What do single, batched and cached operations take and cost, and how does it scale?',
    source: {
      title: 'Google App Engine: speed of data operations (in Russian)',
      year: 2011,
      platform: 'one instance of Google App Engine',
    },
    providers: ['datastore', 'azure-tables'],
    whereThen: 'App Engine, 2011',
    rounds,
    rowsHave: 'one table',
    loaded,
    characters: CHARACTERS,
    rows: [...speeds.flat(), ...crowds],
    tables: [
      ...recordCounts.map((count, at) => speedTable(count, speeds[at]!)).toReversed(),
      priceTable(most, speeds.at(-1)!),
      callersTable(crowds, options),
    ],
    cannotShow: [
      'Prices are of operations alone. Then a second of the processor was billed as well; what one costs today depends on the host, and an emulator cannot show it.',
      'The cache of now lies in the memory of the client itself; memcache was another machine.',
      'All callers share one process, and with the emulator two processors: where throughput stops growing is this machine, not the service, which adds machines.',
    ],
    findingsOf: (tables) => findingsOf(tables, most, callers),
  });
}

interface Operation extends Pick<Way, 'client' | 'verb'> {
  readonly id: string;
  readonly name: string;
  readonly isBatch: boolean;
}

/** The first five are the document's. */
const OPERATIONS: readonly Operation[] = [
  { id: 'write_single', name: 'single writes', client: 'sdk', verb: 'write', isBatch: false },
  { id: 'write_batch', name: 'one batched write', client: 'sdk', verb: 'write', isBatch: true },
  { id: 'read_single', name: 'single reads', client: 'sdk', verb: 'read', isBatch: false },
  { id: 'read_batch', name: 'one batched read', client: 'sdk', verb: 'read', isBatch: true },
  { id: 'memcache', name: 'memcache operations', client: 'store', verb: 'cached', isBatch: false },
  { id: 'put', name: 'this store: put by put', client: 'store', verb: 'write', isBatch: false },
  { id: 'putMany', name: 'this store: one putMany', client: 'store', verb: 'write', isBatch: true },
  { id: 'get', name: 'this store: get by get', client: 'store', verb: 'read', isBatch: false },
  { id: 'getMany', name: 'this store: one getMany', client: 'store', verb: 'read', isBatch: true },
];

/** One record is no batch. */
function speedRows(count: number): PlannedRow[] {
  return OPERATIONS.filter(({ isBatch }) => count > 1 || !isBatch).map(({ id, name, ...operation }) => ({
    id: `${id}-${count}`,
    name,
    ...(id === 'memcache' ? { standIn: 'get of this store within maxAgeMs, from its cache' } : {}),
    against: `${operation.verb === 'write' ? 'write_single' : 'read_single'}-${count}`,
    printed: { ms: printedAt(THEN, id, count), cpu: printedAt(THEN.cpu_ms, id, count) },
    per: count,
    way: (provider) => wayOf(operation, count, provider),
  }));
}

function wayOf({ client, verb, isBatch }: Omit<Operation, 'id' | 'name'>, count: number, provider: Provider): Way {
  const most = client === 'store' ? count : (verb === 'write' ? WRITES_MAX : READS_MAX)[provider];
  const group = isBatch ? Math.min(count, most) : 1;
  const inFlight = isBatch && count > most ? BATCHES_IN_FLIGHT : 1;
  return { client, verb, records: Math.max(count, RECORDS_MIN), group, inFlight, characters: CHARACTERS };
}

/** Figures of then stand in the order of the numbers of records. */
function printedAt(printed: object, id: string, count: number): Figure {
  const figures = (printed as Readonly<Record<string, readonly (number | null)[] | undefined>>)[id];
  return figureOf([figures?.[THEN.records.indexOf(count)] ?? []].flat());
}

const CLIENTS = { sdk: 'plain SDK', store: 'this store' } as const;
const { scaling: SCALING } = THEN;

function callerRows({ callers, requests }: Options): PlannedRow[] {
  const rows = (['sdk', 'store'] as const).flatMap((client) =>
    callers.map((count): PlannedRow => {
      const at = SCALING.threads.indexOf(count);
      const records = Math.max(requests, 2 * count);
      return {
        id: `${client}-callers-${count}`,
        name: `${count === 1 ? '1 thread' : `${count} threads`}, ${CLIENTS[client]}`,
        against: `${client}-callers-${callers[0]}`,
        per: 1,
        way: { client, verb: 'request', records, group: 1, inFlight: count, characters: CHARACTERS },
        printed:
          at === -1
            ? {}
            : { rate: figureOf([SCALING.requests_per_second[at]!]), callMs: figureOf([SCALING.request_ms[at]!]) },
      };
    }),
  );
  const instances: PlannedRow = {
    id: 'instances',
    name: '10 instances: 16,000 requests in 3 minutes',
    against: rows[0]!.id,
    per: 1,
    way: 'one machine is not ten',
    printed: { rate: figureOf([SCALING.ten_instances.requests / SCALING.ten_instances.seconds]) },
  };
  return [...rows, instances];
}

type Table = DocumentPlan['tables'][number];

function speedTable(count: number, rows: readonly PlannedRow[]): Table {
  return {
    id: `speed-${count}`,
    title: count === 1 ? 'One record' : `${count.toLocaleString('en-US')} records`,
    about: `Wall time and processor time (then as the platform billed it, now of the client process with all of its threads) of one operation on so many records of ${CHARACTERS} characters.`,
    measures: [
      { suffix: 'ms', measure: 'wall time', unit: 'ms', better: 'lower' },
      { suffix: 'cpu', measure: 'processor time', unit: 'ms', better: 'lower' },
    ],
    rows,
  };
}

/** The document gives one price for writes and one for reads, batched or not. */
const PRICED_THEN: Readonly<Record<string, keyof typeof THEN.per_dollar>> = {
  write_single: 'write',
  read_single: 'read',
  memcache: 'memcache',
};

function priceTable(count: number, rows: readonly PlannedRow[]): Table {
  const { datastore, 'azure-tables': azure } = PRICES.providers;
  return {
    id: 'price',
    title: 'Records for a dollar',
    about: `By the operations that were billed for ${count.toLocaleString('en-US')} records, at the list prices of ${PRICES.date} (Datastore: ${datastore.region}; Azure: ${azure.region}), without free tiers, storage, traffic and the processor. What a cache answers is not billed. A cent buys a hundredth.`,
    measures: [{ suffix: 'perDollar', measure: 'records a dollar', unit: 'records', better: 'higher' }],
    rows: rows.map((row): PlannedRow => {
      const then = PRICED_THEN[row.id.replace(/-\d+$/, '')];
      return { ...row, printed: then === undefined ? {} : { perDollar: figureOf([THEN.per_dollar[then]]) } };
    }),
  };
}

function callersTable(rows: readonly PlannedRow[], { requests }: Options): Table {
  return {
    id: 'callers',
    title: 'Throughput against callers',
    about: `A request writes ${REQUEST.writes} new records together and reads ${REQUEST.reads} neighbours together, ${requests} requests a round or two of each caller, each caller waiting for its answer. A caller of now is a loop in one process, not a thread.`,
    measures: [
      { suffix: 'rate', measure: 'requests a second', unit: 'requests/s', better: 'higher' },
      { suffix: 'callMs', measure: 'time of a request', unit: 'ms', better: 'lower' },
    ],
    rows,
  };
}
