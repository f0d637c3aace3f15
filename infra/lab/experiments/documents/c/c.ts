// Document C: ten records of 10,000 characters or of one, in one transaction or one by one.
import { randomUUID } from 'node:crypto';
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import { Backends } from '../../backends.ts';
import { type Measure, nowColumns, type Plan, rowsOf, SPENT, thenColumn, type Where, whereOf } from '../../columns.ts';
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { modelColumns, modelledCells, type ModelledDocument, withCells } from '../../modelled.ts';
import type { PlainTable, Spent, TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import { type Chapter, figureOf, type FigureTable } from '../../results.ts';
import { alternatingRuns, type Cells, type Variant } from '../../rounds.ts';
import { costOf, spentNumbers } from '../../spending.ts';
import { putAll } from '../../text-table.ts';
import { textsOf } from '../../texts.ts';
import { findingsOf } from './findings.ts';
import { MODELLED_C, NOTES_C, PROVIDERS } from './modelled.ts';

export interface OptionsC {
  readonly rounds: number;
  /** What the model plays, and how often. */
  readonly modelled: readonly ModelledDocument[];
  /** So often ten records are written a round; the figure is the mean. */
  readonly repetitions: number;
}

const FULL: OptionsC = { rounds: 5, repetitions: 5, modelled: MODELLED_C };

const TITLE = 'Improved Datastore performance: few large objects or many small ones';
const QUESTION = 'Does the size of what is written matter, or the number of entities and round trips?';
const RECORDS = 10;
const SIZES = { big: 10_000, small: 1 } as const;
const { runs: THEN } = PUBLISHED.datastore_size_2009;

export function experimentC(options: OptionsC = FULL): Experiment {
  return { id: 'c', title: TITLE, question: QUESTION, budgetMs: 30_000, run: (context) => chapter(context, options) };
}

const TO_BASELINE = { against: 'big-single' } as const;
const NO_OTHER_BATCH = { 'azure-tables': 'a batch there is a transaction' } as const;

const PLANS: readonly Plan[] = [
  {
    id: 'big-transaction',
    name: 'big, in a transaction',
    ...TO_BASELINE,
    printed: { s: figureOf(THEN.big_transaction) },
  },
  {
    id: 'big-single',
    name: 'big, one by one (the baseline)',
    ...TO_BASELINE,
    printed: { s: figureOf(THEN.big_single) },
  },
  { id: 'small-single', name: 'small, one by one', ...TO_BASELINE, printed: { s: figureOf(THEN.small_single) } },
  { id: 'small-transaction', name: 'small, in a transaction', ...TO_BASELINE },
  {
    id: 'big-batch',
    name: 'big, in one batch without a transaction',
    ...TO_BASELINE,
    marks: ['asked for in a comment'],
    lacks: NO_OTHER_BATCH,
  },
  {
    id: 'small-batch',
    name: 'small, in one batch without a transaction',
    ...TO_BASELINE,
    marks: ['asked for in a comment'],
    lacks: NO_OTHER_BATCH,
  },
  { id: 'store-big-single', name: 'this store: big, put by put', ...TO_BASELINE },
  { id: 'store-small-single', name: 'this store: small, put by put', ...TO_BASELINE },
  { id: 'store-big-batch', name: 'this store: big, one putMany', ...TO_BASELINE },
  { id: 'store-small-batch', name: 'this store: small, one putMany', ...TO_BASELINE },
];

async function chapter(context: ExperimentContext, options: OptionsC): Promise<Chapter> {
  const backends = new Backends(context);
  try {
    const variants = PROVIDERS.flatMap((provider) =>
      variantsOf(backends, { provider, options, signal: context.signal }),
    );
    const modelled = await modelledCells(options.modelled, context);
    const cells = withCells(await alternatingRuns(context, options, variants), modelled);
    const where = await whereOf(backends, PROVIDERS);
    const [seconds, spent] = [secondsTable(cells, where, options), spentTable(cells, where)];
    return {
      id: 'c',
      title: TITLE,
      question: QUESTION,
      source: SOURCES.C,
      tables: [seconds, spent],
      wordTables: [],
      cannotShow: [
        'A round trip to an emulator takes a fraction of a millisecond, so its number counts for less than in a data centre, and the bytes for more.',
        'An emulator keeps its data in memory: what the service does to make a write durable, and to replicate it, takes no time here.',
      ],
      findings: findingsOf(seconds, spent),
    };
  } finally {
    await backends.close();
  }
}

interface Load {
  readonly provider: Provider;
  readonly options: OptionsC;
  readonly signal: AbortSignal;
}

type Work = (records: readonly TextRecord[]) => Promise<void>;

function variantsOf(backends: Backends, load: Load): Variant[] {
  const { provider, signal } = load;
  const plain = (row: string, characters: number, write: (table: PlainTable) => Work): Variant =>
    variant({ ...load, row, characters }, async (name) => {
      const sdk = await backends.plain(provider);
      return { write: write(await sdk.open(name)), spent: () => sdk.spent() };
    });
  const ours = (row: string, characters: number, isBatch: boolean): Variant =>
    variant({ ...load, row, characters }, async (name) => {
      const counted = await backends.store(provider);
      const table = await counted.store.table<string>(name);
      const write: Work = isBatch
        ? (records) => putAll(table, records, signal)
        : oneByOne(({ key, text }) => table.put(key, text, { signal }));
      return { write, spent: () => counted.spent() };
    });
  return Object.entries(SIZES).flatMap(([size, characters]) => [
    plain(`${size}-transaction`, characters, (table) => (records) => table.insertInTransaction(records)),
    plain(`${size}-single`, characters, (table) => oneByOne((record) => table.insert(record))),
    ...(provider === 'datastore'
      ? [plain(`${size}-batch`, characters, (table) => (records) => table.insertMany(records))]
      : []),
    ours(`store-${size}-single`, characters, false),
    ours(`store-${size}-batch`, characters, true),
  ]);
}

function oneByOne(write: (record: TextRecord) => Promise<unknown>): Work {
  return async (records) => {
    for (const record of records) await write(record);
  };
}

interface Writer {
  readonly write: Work;
  spent(): Spent;
}

/** All runs of a variant go into one table. */
function variant(
  { provider, options, signal, row, characters }: Load & { readonly row: string; readonly characters: number },
  open: (tableName: string) => Promise<Writer>,
): Variant {
  const textOf = textsOf(characters);
  let opened: Promise<Writer> | undefined;
  return {
    row,
    columns: ['s', 'requests', 'billed', 'cpu'].map((suffix) => `${provider}-${suffix}`),
    async run() {
      opened ??= open(`c${row.replaceAll('-', '')}`);
      const writer = await opened;
      const { repetitions } = options;
      const batches = Array.from({ length: repetitions }, (_, repetition) =>
        Array.from({ length: RECORDS }, (_, index) => ({
          key: randomUUID(),
          text: textOf(repetition * RECORDS + index),
        })),
      );
      const cost = await costOf(writer, async () => {
        for (const records of batches) {
          signal.throwIfAborted();
          await writer.write(records);
        }
      });
      return {
        [`${provider}-s`]: cost.wallMs / 1_000 / repetitions,
        ...spentNumbers(provider, cost, repetitions),
      };
    },
  };
}

function secondsTable(cells: Cells, where: Where, { rounds, repetitions }: OptionsC): FigureTable {
  const seconds: Measure = { suffix: 's', measure: 'seconds for 10 records', unit: 's', better: 'lower' };
  const columns = [
    thenColumn(seconds, 'App Engine, 2009'),
    ...nowColumns(seconds, where),
    ...modelColumns(seconds, PROVIDERS),
  ];
  return {
    id: 'seconds',
    title: 'Seconds for ten records',
    about: `Records of 10,000 characters (big) or of one (small), new keys each. ${rounds} rounds, the variants in turn; a figure of now is the mean of ${repetitions} repetitions a round.`,
    columns,
    rows: rowsOf(PLANS, columns, cells),
    notes: NOTES_C,
  };
}

function spentTable(cells: Cells, where: Where): FigureTable {
  const columns = SPENT.flatMap((measure) => nowColumns(measure, where));
  return {
    id: 'spent',
    title: 'What ten records cost',
    about:
      'Requests, operations as the provider bills them, and processor time of the client. A transaction on Datastore is begun and committed: two requests.',
    columns,
    rows: rowsOf(PLANS, columns, cells),
    charted: [],
  };
}
