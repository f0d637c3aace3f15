// Document B: 10,000 entities into Azure Tables, by single inserts, in groups, over other connections, in parallel.
import { Backends } from '../../backends.ts';
import { type Measure, nowColumns, type Plan, rowsOf, SPENT, thenColumn, type Where, whereOf } from '../../columns.ts';
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { MODEL_NOTE, modelColumns, modelledCells, type ModelledDocument, withCells } from '../../modelled.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import { type Chapter, type Figure, figureOf, type FigureTable, NO_EFFECT_ON_LOOPBACK } from '../../results.ts';
import { alternatingRuns, type Cells } from '../../rounds.ts';
import { findingsOf } from './findings.ts';
import { MODELLED_B, NOTES_B, PROVIDERS } from './modelled.ts';
import { azureVariants, datastoreVariants, type Sizes } from './ways.ts';

export interface OptionsB extends Sizes {
  readonly rounds: number;
  /** What the model plays, and how often. */
  readonly modelled: readonly ModelledDocument[];
}

/** The document's, except that entities written singly are fewer: 10,000 took half an hour then, and would take a minute a run now. */
const FULL: OptionsB = { entities: 10_000, singles: 500, rounds: 5, modelled: MODELLED_B };

const TITLE = 'Speeding up Azure Table Storage: groups, connections, parallelism';
const QUESTION = 'How are ten thousand entities written fastest, and what do the connections matter?';
const { runs: THEN, ...PRINTED } = PUBLISHED.azure_tables_2011;
const ENTITIES_THEN = 10_000;
const WHERE_THEN = 'Azure Tables, 2011';

export function experimentB(options: OptionsB = FULL): Experiment {
  return {
    id: 'b',
    title: TITLE,
    question: QUESTION,
    budgetMs: 110_000,
    run: (context) => chapter(context, options),
  };
}

const ONE_CONNECTION = 'one HTTP/2 connection carries all requests of a client';
const EMULATORS = 'all figures of now are from emulators';
const TO_BASELINE = { against: 'baseline' } as const;

const PLANS: readonly Plan[] = [
  {
    id: 'single',
    name: 'without group transactions',
    ...TO_BASELINE,
    printed: { rate: figureOf([PRINTED.single_entities_per_second]) },
  },
  {
    id: 'baseline',
    name: 'group transactions of 100, one after the other (the baseline)',
    standIn: 'on Datastore commits of 100',
    ...TO_BASELINE,
    printed: { s: figureOf(THEN.baseline), rate: figureOf(PRINTED.entities_per_second.baseline) },
  },
  {
    id: 'connections',
    name: '+ 48 HTTP connections',
    ...TO_BASELINE,
    printed: inSeconds(THEN.connections_48),
    marks: [NO_EFFECT_ON_LOOPBACK, 'one batch at a time needs one connection'],
    lacks: { datastore: ONE_CONNECTION },
  },
  {
    id: 'expect',
    name: '+ Expect: 100-continue off',
    ...TO_BASELINE,
    printed: inSeconds(THEN.expect_100_off),
    marks: [NO_EFFECT_ON_LOOPBACK],
    lacks: { datastore: 'gRPC has no such header' },
  },
  {
    id: 'nagle',
    name: '+ Nagle off',
    ...TO_BASELINE,
    printed: inSeconds(THEN.nagle_off),
    marks: [NO_EFFECT_ON_LOOPBACK],
    lacks: { datastore: 'HTTP/2 of Node.js turns it off by itself' },
  },
  {
    id: 'parallel',
    name: 'parallel loop over batches of 100',
    standIn: '48 batches at a time',
    ...TO_BASELINE,
    printed: { s: figureOf(THEN.parallel), rate: figureOf(PRINTED.entities_per_second.parallel) },
  },
  {
    id: 'everything',
    name: 'everything together',
    standIn: 'on Datastore 48 batches at a time over 48 connections',
    ...TO_BASELINE,
    printed: inSeconds(THEN.everything),
    marks: [`best and worst that the text names: ${PRINTED.everything_best_and_worst_seconds.join(' and ')} s`],
  },
  {
    id: 'emulator',
    name: 'the local emulator of that day',
    ...TO_BASELINE,
    printed: inSeconds([PRINTED.local_emulator_seconds]),
    lacks: { datastore: EMULATORS, 'azure-tables': EMULATORS },
  },
  {
    id: 'sdk',
    name: "groups of 100, the SDK's own connections",
    ...TO_BASELINE,
    lacks: { datastore: 'the baseline is that' },
  },
  {
    id: 'sdk-parallel',
    name: "48 groups of 100 at a time, the SDK's own connections",
    ...TO_BASELINE,
    lacks: { datastore: 'the parallel loop is that' },
  },
  {
    id: 'large',
    name: 'commits of 500, one after the other',
    ...TO_BASELINE,
    lacks: { 'azure-tables': 'a group transaction has 100 at most' },
  },
  { id: 'store-single', name: 'this store: put, one after the other', ...TO_BASELINE },
  { id: 'store-baseline', name: 'this store: putMany of 100, one after the other', ...TO_BASELINE },
  { id: 'store-parallel', name: 'this store: putMany of 100, 48 at a time', ...TO_BASELINE },
  { id: 'store-whole', name: 'this store: one putMany of all', ...TO_BASELINE },
];

/** What the document prints in seconds, and the rate of each run. */
function inSeconds(seconds: readonly number[]): Record<string, Figure> {
  return { s: figureOf(seconds), rate: figureOf(seconds.map((each) => ENTITIES_THEN / each)) };
}

async function chapter(context: ExperimentContext, options: OptionsB): Promise<Chapter> {
  const backends = new Backends(context);
  try {
    const variants = [
      ...azureVariants(backends, options, context.signal),
      ...datastoreVariants(backends, options, context.signal),
    ];
    const modelled = await modelledCells(options.modelled, context);
    const cells = withCells(await alternatingRuns(context, options, variants), modelled);
    const where = await whereOf(backends, PROVIDERS);
    const [seconds, rates, spent] = [
      secondsTable(cells, where, options),
      ratesTable(cells, where, options),
      spentTable(cells, where),
    ];
    return {
      id: 'b',
      title: TITLE,
      question: QUESTION,
      source: SOURCES.B,
      tables: [rates, seconds, spent],
      wordTables: [],
      cannotShow: [
        'Between a client and an emulator on one machine there is no distance: what saves a round trip (Expect: 100-continue off) or waits for an acknowledgement (Nagle) can hardly show.',
        'Client and emulator share the processors, so parallel requests gain what one of them leaves idle, not what a service of many machines could answer.',
        'An emulator does not throttle: the service aims at 2,000 entities a second in one partition (its scalability targets), an emulator takes what its processor gives.',
      ],
      findings: findingsOf(rates, spent),
    };
  } finally {
    await backends.close();
  }
}

function secondsTable(cells: Cells, where: Where, { entities, singles }: Sizes): FigureTable {
  const count = entities.toLocaleString('en-US');
  const seconds: Measure = { suffix: 's', measure: `seconds for ${count} entities`, unit: 's', better: 'lower' };
  const columns = [thenColumn(seconds, WHERE_THEN), ...nowColumns(seconds, where), ...modelColumns(seconds, PROVIDERS)];
  const fewer: Figure = { missing: `${singles.toLocaleString('en-US')} entities were written: see entities a second` };
  return {
    id: 'seconds',
    title: 'Seconds, as the document prints them',
    about: `${count} entities of one partition into an empty table; a GUID and a text of 49 characters with a counter each.`,
    columns,
    rows: rowsOf(PLANS, columns, cells).map((row) =>
      row.id === 'single' || row.id === 'store-single'
        ? { ...row, figures: { ...row.figures, 'azure-tables-s': fewer, 'datastore-s': fewer } }
        : row,
    ),
    charted: [],
    notes: [MODEL_NOTE],
  };
}

function ratesTable(cells: Cells, where: Where, { entities, singles, rounds }: OptionsB): FigureTable {
  const rate: Measure = { suffix: 'rate', measure: 'entities a second', unit: 'entities/s', better: 'higher' };
  const columns = [thenColumn(rate, WHERE_THEN), ...nowColumns(rate, where), ...modelColumns(rate, PROVIDERS)];
  return {
    id: 'rates',
    title: 'Entities a second',
    about: `The same runs: ${entities.toLocaleString('en-US')} entities each (single writes: ${singles.toLocaleString('en-US')}), ${rounds} runs after one to warm up, the variants in turn. Where the document prints seconds alone, its rate is calculated from each of its runs.`,
    columns,
    rows: rowsOf(PLANS, columns, cells),
    notes: NOTES_B,
  };
}

function spentTable(cells: Cells, where: Where): FigureTable {
  const columns = SPENT.flatMap((measure) => nowColumns(measure, where));
  return {
    id: 'spent',
    title: 'What 10,000 entities cost',
    about:
      'Requests, operations as the provider bills them (Datastore: entities; Azure: requests, a group transaction being one) and processor time of the client, all of its threads, for 10,000 entities. Opening tables is left out.',
    columns,
    rows: rowsOf(PLANS, columns, cells).filter(({ id }) => id !== 'emulator'),
    charted: [],
  };
}
