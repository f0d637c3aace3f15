// Document E: what single, batched and cached operations take and cost, how many fit into a request, and what callers at a time bring.
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import { documentE, WRITES_MAX_2026 } from '../../../../shared/lab/plan/modelled/documents.ts';
import type { Experiment, ExperimentContext } from '../experiment.ts';
import {
  MODEL_NOTE,
  MODEL_RUNS,
  modelledCells,
  type ModelledDocument,
  modelNotes,
  type ModelRuns,
} from '../modelled.ts';
import {
  type DocumentPlan,
  figureTable,
  mapped,
  type Measure,
  type Measured,
  measureRows,
  type PlannedRow,
  PRICES,
  withCells,
} from '../plan.ts';
import { PUBLISHED, SOURCES } from '../published/published.ts';
import {
  type Chapter,
  type Figure,
  figureOf,
  type FigureTable,
} from '../../../../shared/lab/report/chapters/schema.ts';
import { REQUEST, type Way } from '../ways.ts';
import { findingsOf } from './e-findings.ts';

export interface OptionsE {
  readonly rounds: number;
  /** Records that are there to be read. */
  readonly loaded: number;
  readonly recordCounts: readonly number[];
  /** Numbers of callers; the first is what the others are set against. */
  readonly callers: readonly number[];
  /** Requests of each crowd a round, two of each caller at least. */
  readonly requests: number;
  readonly modelRuns: ModelRuns;
}

const THEN = PUBLISHED.gae_operations_2011;

const FULL: OptionsE = {
  rounds: 3,
  loaded: 10_000,
  recordCounts: THEN.records,
  callers: [1, 2, 5, 10, 32, 100],
  requests: 60,
  modelRuns: MODEL_RUNS,
};

const PROVIDERS = ['datastore', 'azure-tables'] as const;
const CHARACTERS = 500;
const WHERE_THEN = 'App Engine, 2011';
/** What the baseline takes of keys at once, and a query on Azure gives in one answer. */
const READS_MAX = { datastore: 500, 'azure-tables': 1_000 } as const;
/** Batches on their way at a time, where one does not take all. */
const BATCHES_IN_FLIGHT = 8;
/** Work of a few records is repeated until it was so many. */
const RECORDS_MIN = 20;

export function experimentE(options: OptionsE = FULL): Experiment {
  return {
    id: 'e',
    title: 'Google App Engine: speed of data operations',
    question: 'What do single, batched and cached operations take and cost, and how does it scale?',
    source: SOURCES.E,
    run: (context) => chapter(context, options),
  };
}

interface Operation extends Pick<Way, 'client' | 'verb'> {
  readonly id: string;
  readonly name: string;
  readonly isBatch: boolean;
  /** Beginning of its name in the document's runs on the model. */
  readonly modelled?: string;
}

/** The first five are the document's. */
const OPERATIONS: readonly Operation[] = [
  {
    id: 'write_single',
    name: 'single writes',
    client: 'sdk',
    verb: 'write',
    isBatch: false,
    modelled: 'single writes of',
  },
  {
    id: 'write_batch',
    name: 'one batched write',
    client: 'sdk',
    verb: 'write',
    isBatch: true,
    modelled: 'batched write of',
  },
  { id: 'read_single', name: 'single reads', client: 'sdk', verb: 'read', isBatch: false, modelled: 'single reads of' },
  {
    id: 'read_batch',
    name: 'one batched read',
    client: 'sdk',
    verb: 'read',
    isBatch: true,
    modelled: 'batched read of',
  },
  { id: 'memcache', name: 'memcache operations', client: 'store', verb: 'cached', isBatch: false },
  { id: 'put', name: 'this store: put by put', client: 'store', verb: 'write', isBatch: false },
  { id: 'putMany', name: 'this store: one putMany', client: 'store', verb: 'write', isBatch: true },
  { id: 'get', name: 'this store: get by get', client: 'store', verb: 'read', isBatch: false },
  { id: 'getMany', name: 'this store: one getMany', client: 'store', verb: 'read', isBatch: true },
];

/** One record is no batch. */
function speedRows(count: number): PlannedRow[] {
  return OPERATIONS.filter(({ isBatch }) => count > 1 || !isBatch).map(({ id, name, modelled, ...operation }) => ({
    id: `${id}-${count}`,
    name,
    ...(id === 'memcache' ? { standIn: 'get of this store within maxAgeMs, from its cache' } : {}),
    against: `${operation.verb === 'write' ? 'write_single' : 'read_single'}-${count}`,
    printed: { ms: printedAt(THEN, id, count), cpu: printedAt(THEN.cpu_ms, id, count) },
    per: count,
    ...(modelled === undefined ? {} : { modelled: `${modelled} ${count.toLocaleString('en-US')}` }),
    way: (provider) => wayOf(operation, count, provider),
  }));
}

function wayOf({ client, verb, isBatch }: Omit<Operation, 'id' | 'name'>, count: number, provider: Provider): Way {
  const most = client === 'store' ? count : (verb === 'write' ? WRITES_MAX_2026 : READS_MAX)[provider];
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

function callerRows({ callers, requests }: OptionsE): PlannedRow[] {
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

const MODEL: ModelledDocument = { play: documentE, msOf: (run, { modelled }) => run.get(modelled!)! };

async function chapter(context: ExperimentContext, options: OptionsE): Promise<Chapter> {
  const { rounds, loaded, recordCounts } = options;
  const [speeds, crowds] = [recordCounts.map(speedRows), callerRows(options)];
  const plan: DocumentPlan = {
    providers: PROVIDERS,
    rounds,
    tables: 'one',
    loaded,
    characters: CHARACTERS,
    rows: [...speeds.flat(), ...crowds],
  };
  const modelled = await modelledCells(plan, MODEL, options.modelRuns, context);
  const { cells, where } = await measureRows(plan, context);
  const measured = { cells: withCells(cells, modelled), where };
  const most = recordCounts.at(-1)!;
  const tables = [
    ...recordCounts.map((count, at) => speedTable(count, speeds[at]!, count === most, measured)).toReversed(),
    ratesTable(most, speeds.at(-1)!, measured),
    priceTable(most, speeds.at(-1)!, measured),
    callersTable(crowds, options, measured),
  ];
  return {
    tables,
    wordTables: [],
    cannotShow: [
      'Prices are of operations alone. Then a second of the processor was billed as well; what one costs today depends on the host, and an emulator cannot show it.',
      'The cache of now lies in the memory of the client itself; memcache was another machine.',
      'All callers share one process, and with the emulator two processors: where throughput stops growing is this machine, not the service, which adds machines.',
    ],
    findings: findingsOf(tables, most, options.callers),
  };
}

const WALL: Measure = { suffix: 'ms', measure: 'wall time', unit: 'ms', better: 'lower', isModelled: true };
const CPU: Measure = { suffix: 'cpu', measure: 'processor time', unit: 'ms', better: 'lower' };

function speedTable(count: number, rows: readonly PlannedRow[], isMost: boolean, measured: Measured): FigureTable {
  const plan = {
    id: `speed-${count}`,
    title: count === 1 ? 'One record' : `${count.toLocaleString('en-US')} records`,
    about: `Wall time and processor time (then as the platform billed it, now of the client process with all of its threads) of one operation on so many records of ${CHARACTERS} characters.`,
    providers: PROVIDERS,
    whereThen: WHERE_THEN,
    measures: [WALL, CPU],
    rows,
    notes: isMost ? NOTES : [MODEL_NOTE],
  };
  return figureTable(plan, measured);
}

/** "Comfortable", for a request with a visitor who waits; and how long App Engine let a request run. */
const [COMFORTABLE_S, REQUEST_S] = [0.5, 30];

/** What the document does with its times: records a second, and as many as half a second and a whole request hold. */
function ratesTable(count: number, rows: readonly PlannedRow[], { cells, where }: Measured): FigureTable {
  const held = [...cells].map(([row, figures]) => {
    const rates = Object.entries(figures).filter(([id]) => id.endsWith('-rate'));
    const times = (factor: number, suffix: string): [string, Figure][] =>
      rates.map(([id, figure]) => [id.replace(/rate$/, suffix), mapped(figure, (rate) => rate * factor)]);
    return [
      row,
      { ...figures, ...Object.fromEntries([...times(COMFORTABLE_S, 'half'), ...times(REQUEST_S, 'whole')]) },
    ] as const;
  });
  const planned = rows.map((row): PlannedRow => {
    const printed = (figures: object): Figure =>
      figureOf([(figures as Record<string, number>)[idOf(row)] ?? []].flat());
    return {
      ...row,
      printed: {
        rate: mapped(row.printed!['ms']!, (ms) => (count / ms) * 1_000),
        half: printed(THEN.comfortable_in_500_ms),
        whole: printed(THEN.technical_maximum),
      },
    };
  });
  const sqlServer: PlannedRow = {
    id: 'sql-server',
    name: 'SQL Server Express on a micro virtual machine: writes',
    against: `write_single-${count}`,
    per: 1,
    way: 'named for comparison',
    printed: { rate: figureOf([THEN.sql_server_express_writes_per_second]) },
  };
  const plan = {
    id: 'rates',
    title: 'Records a second, and in a request',
    about: `From the wall times of ${count.toLocaleString('en-US')} records: as many a second, in a request of half a second that a visitor waits for comfortably, and in one of 30 s, as long as App Engine let one run. Then the last two are as printed.`,
    providers: PROVIDERS,
    whereThen: WHERE_THEN,
    measures: [
      { suffix: 'rate', measure: 'records a second', unit: 'records/s', better: 'higher', isModelled: true },
      { suffix: 'half', measure: 'in 0.5 s', unit: 'records', better: 'higher' },
      { suffix: 'whole', measure: 'in 30 s', unit: 'records', better: 'higher' },
    ] as const,
    rows: [...planned, sqlServer],
    notes: [MODEL_NOTE],
  };
  return figureTable(plan, { cells: new Map(held), where });
}

function idOf({ id }: PlannedRow): string {
  return id.replace(/-\d+$/, '');
}

/** The document gives one price for writes and one for reads, batched or not. */
const PRICED_THEN: Readonly<Record<string, keyof typeof THEN.per_dollar>> = {
  write_single: 'write',
  read_single: 'read',
  memcache: 'memcache',
};

/** What money buys, by the operations that were billed. */
function priceTable(count: number, rows: readonly PlannedRow[], measured: Measured): FigureTable {
  const { datastore, 'azure-tables': azure } = PRICES.providers;
  const plan = {
    id: 'price',
    title: 'Records for a dollar',
    about: `By the operations that were billed for ${count.toLocaleString('en-US')} records, at the list prices of ${PRICES.date} (Datastore: ${datastore.region}; Azure: ${azure.region}), without free tiers, storage, traffic and the processor. What a cache answers is not billed. A cent buys a hundredth.`,
    providers: PROVIDERS,
    whereThen: WHERE_THEN,
    measures: [{ suffix: 'perDollar', measure: 'records a dollar', unit: 'records', better: 'higher' }] as const,
    rows: rows.map((row): PlannedRow => {
      const then = PRICED_THEN[idOf(row)];
      return { ...row, printed: then === undefined ? {} : { perDollar: figureOf([THEN.per_dollar[then]]) } };
    }),
  };
  return figureTable(plan, measured);
}

function callersTable(rows: readonly PlannedRow[], { requests }: OptionsE, measured: Measured): FigureTable {
  const plan = {
    id: 'callers',
    title: 'Throughput against callers',
    about: `A request writes ${REQUEST.writes} new records together and reads ${REQUEST.reads} neighbours together, ${requests} requests a round or two of each caller, each caller waiting for its answer. A caller of now is a loop in one process, not a thread.`,
    providers: PROVIDERS,
    whereThen: WHERE_THEN,
    measures: [
      { suffix: 'rate', measure: 'requests a second', unit: 'requests/s', better: 'higher' },
      { suffix: 'callMs', measure: 'time of a request', unit: 'ms', better: 'lower' },
    ] as const,
    rows,
  };
  return figureTable(plan, measured);
}

const NOTES = modelNotes(
  'What weighs most on Datastore: getMany.perEntityMs (a guess), by which alone the batched read of 1,000 becomes 4 times as dear, commit.perEntityMs, commit.baseMs and get.baseMs (measured by others, few requests), batch.exponent (a guess). On Azure, all guesses: partition.burstSeconds, tail.factor, query.perEntityMs, transaction.perEntityMs, commit.baseMs. A batched write goes in commits of 500, on Azure in transactions of 100, eight at a time; a batched read on Azure is a query.',
  'the cache, processor time. The tables without such a column (prices, callers at a time) are not modelled here.',
);
