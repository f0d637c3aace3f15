// Document B: 10,000 entities into Azure Tables, by single inserts, in groups, over other connections, in parallel.
import type { Provider } from '../../../../shared/compare/dimensions.ts';
import { Backends } from '../../backends.ts';
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { PUBLISHED, SOURCES } from '../../published/published.ts';
import {
  type Chapter,
  type Column,
  type Figure,
  figureOf,
  type FigureTable,
  NO_COUNTERPART,
  NO_EFFECT_ON_LOOPBACK,
  type Row,
} from '../../results.ts';
import { alternatingRuns, type Cells } from '../../rounds.ts';
import { findingsOf } from './findings.ts';
import { azureVariants, datastoreVariants, type Sizes } from './ways.ts';

export interface OptionsB extends Sizes {
  readonly rounds: number;
}

/** The document's, except that entities written singly are fewer: 10,000 took half an hour then, and would take a minute a run now. */
const FULL: OptionsB = { entities: 10_000, singles: 1_000, rounds: 5 };

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
    budgetMs: 150_000,
    run: (context) => chapter(context, options),
  };
}

/** A row without its figures of now. */
interface Plan extends Pick<Row, 'id' | 'name' | 'marks' | 'standIn'> {
  readonly seconds?: Figure;
  readonly rate?: Figure;
  /** Why there is no figure of now on Datastore, or on either. */
  readonly datastoreLacks?: string;
  readonly nowLacks?: string;
}

const ONE_CONNECTION = 'one HTTP/2 connection carries all requests of a client';

const PLANS: readonly Plan[] = [
  { id: 'single', name: 'without group transactions', rate: figureOf([PRINTED.single_entities_per_second]) },
  {
    id: 'baseline',
    name: 'group transactions of 100, one after the other (the baseline)',
    standIn: 'on Datastore commits of 100',
    seconds: figureOf(THEN.baseline),
    rate: figureOf(PRINTED.entities_per_second.baseline),
  },
  {
    id: 'connections',
    name: '+ 48 HTTP connections',
    seconds: figureOf(THEN.connections_48),
    marks: [NO_EFFECT_ON_LOOPBACK, 'one batch at a time needs one connection'],
    datastoreLacks: ONE_CONNECTION,
  },
  {
    id: 'expect',
    name: '+ Expect: 100-continue off',
    seconds: figureOf(THEN.expect_100_off),
    marks: [NO_EFFECT_ON_LOOPBACK],
    datastoreLacks: 'gRPC has no such header',
  },
  {
    id: 'nagle',
    name: '+ Nagle off',
    seconds: figureOf(THEN.nagle_off),
    marks: [NO_EFFECT_ON_LOOPBACK],
    datastoreLacks: 'HTTP/2 of Node.js turns it off by itself',
  },
  {
    id: 'parallel',
    name: 'parallel loop over batches of 100',
    standIn: '48 batches at a time',
    seconds: figureOf(THEN.parallel),
    rate: figureOf(PRINTED.entities_per_second.parallel),
  },
  {
    id: 'everything',
    name: 'everything together',
    standIn: 'on Datastore 48 batches at a time over 48 connections',
    seconds: figureOf(THEN.everything),
    marks: [`best and worst that the text names: ${PRINTED.everything_best_and_worst_seconds.join(' and ')} s`],
  },
  {
    id: 'emulator',
    name: 'the local emulator of that day',
    seconds: figureOf([PRINTED.local_emulator_seconds]),
    nowLacks: 'all figures of now are from emulators',
  },
  { id: 'sdk', name: "groups of 100, the SDK's own connections", datastoreLacks: 'the baseline is that' },
  {
    id: 'sdk-parallel',
    name: "48 groups of 100 at a time, the SDK's own connections",
    datastoreLacks: 'the parallel loop is that',
  },
  { id: 'large', name: 'commits of 500, one after the other', nowLacks: 'a group transaction has 100 at most' },
  { id: 'store-single', name: 'this store: put, one after the other' },
  { id: 'store-baseline', name: 'this store: putMany of 100, one after the other' },
  { id: 'store-parallel', name: 'this store: putMany of 100, 48 at a time' },
  { id: 'store-whole', name: 'this store: one putMany of all' },
];

async function chapter(context: ExperimentContext, options: OptionsB): Promise<Chapter> {
  const backends = new Backends(context);
  try {
    const variants = [
      ...azureVariants(backends, options, context.signal),
      ...datastoreVariants(backends, options, context.signal),
    ];
    const cells = await alternatingRuns(context, options, variants);
    const where = {
      datastore: await backends.where('datastore'),
      'azure-tables': await backends.where('azure-tables'),
    };
    const [seconds, rates, spent] = [
      secondsTable(cells, where, options),
      ratesTable(cells, where, options),
      spentTable(cells, where),
    ];
    return {
      id: 'b',
      document: 'B',
      title: TITLE,
      question: QUESTION,
      source: SOURCES.B,
      tables: [rates, seconds, spent],
      wordTables: [],
      cannotShow: [
        'Between a client and an emulator on one machine there is no distance: what saves a round trip (Expect: 100-continue off) or waits for an acknowledgement (Nagle) can hardly show.',
        'Client and emulator share the processors, so parallel requests gain what one of them leaves idle, not what a service of many machines could answer.',
        'An emulator does not throttle: one partition of the service takes some 2,000 entities a second, an emulator what its processor gives.',
      ],
      findings: findingsOf(rates, spent),
    };
  } finally {
    await backends.close();
  }
}

type Where = Readonly<Record<Provider, string>>;

/** Columns of both providers, for one measure. */
function nowColumns(where: Where, measure: Pick<Column, 'measure' | 'unit' | 'better'>, suffix: string): Column[] {
  return (['azure-tables', 'datastore'] as const).map((provider) => ({
    ...measure,
    id: `${provider}-${suffix}`,
    era: 'now',
    where: where[provider],
  }));
}

function rows(cells: Cells, columns: readonly Column[], then: (plan: Plan) => Record<string, Figure>): Row[] {
  return PLANS.map(({ id, name, marks, standIn, datastoreLacks, nowLacks, ...plan }) => {
    const figures: Record<string, Figure> = { ...then({ id, name, ...plan }) };
    for (const column of columns) {
      if (column.era === 'then') continue;
      const lacks = column.id.startsWith('datastore') ? (datastoreLacks ?? nowLacks) : nowLacks;
      figures[column.id] = cells.get(id)?.[column.id] ?? { missing: lacks ?? NO_COUNTERPART };
    }
    const more = { ...(marks === undefined ? {} : { marks }), ...(standIn === undefined ? {} : { standIn }) };
    return { id, name, against: 'baseline', figures, ...more };
  });
}

function secondsTable(cells: Cells, where: Where, { entities, singles }: Sizes): FigureTable {
  const measure = {
    measure: `seconds for ${entities.toLocaleString('en-US')} entities`,
    unit: 's',
    better: 'lower',
  } as const;
  const columns: Column[] = [
    { ...measure, id: 'then-s', era: 'then', where: WHERE_THEN },
    ...nowColumns(where, measure, 's'),
  ];
  const fewer: Figure = { missing: `${singles.toLocaleString('en-US')} entities were written: see entities a second` };
  return {
    id: 'seconds',
    title: 'Seconds, as the document prints them',
    about: `${entities.toLocaleString('en-US')} entities of one partition into an empty table; a GUID and a text of 49 characters with a counter each.`,
    columns,
    rows: rows(cells, columns, ({ seconds }) => (seconds === undefined ? {} : { 'then-s': seconds })).map((row) =>
      row.id === 'single' || row.id === 'store-single'
        ? { ...row, figures: { ...row.figures, 'azure-tables-s': fewer, 'datastore-s': fewer } }
        : row,
    ),
    hasChart: false,
  };
}

function ratesTable(cells: Cells, where: Where, { entities, singles, ...options }: OptionsB): FigureTable {
  const measure = { measure: 'entities a second', unit: 'entities/s', better: 'higher' } as const;
  const columns: Column[] = [
    { ...measure, id: 'then-rate', era: 'then', where: WHERE_THEN },
    ...nowColumns(where, measure, 'rate'),
  ];
  return {
    id: 'rates',
    title: 'Entities a second',
    about: `The same runs: ${entities.toLocaleString('en-US')} entities each (single writes: ${singles.toLocaleString('en-US')}), ${options.rounds} runs after one to warm up, the variants in turn. Where the document prints seconds alone, its rate is calculated from each of its five runs.`,
    columns,
    rows: rows(cells, columns, ({ seconds, rate }) => {
      const printed = rate ?? rateOf(seconds);
      return printed === undefined ? {} : { 'then-rate': printed };
    }),
  };
}

function rateOf(seconds: Figure | undefined): Figure | undefined {
  if (seconds === undefined || !('runs' in seconds)) return undefined;
  return figureOf(seconds.runs.map((each) => ENTITIES_THEN / each));
}

function spentTable(cells: Cells, where: Where): FigureTable {
  const columns = [
    ...nowColumns(where, { measure: 'requests', unit: 'requests', better: 'lower' }, 'requests'),
    ...nowColumns(where, { measure: 'billed operations', unit: 'operations', better: 'lower' }, 'billed'),
    ...nowColumns(where, { measure: 'processor time of the client', unit: 'ms', better: 'lower' }, 'cpu'),
  ];
  return {
    id: 'spent',
    title: 'What 10,000 entities cost',
    about:
      'Requests, operations as the provider bills them (Datastore: entities; Azure: requests, a group transaction being one) and processor time of the client, all of its threads, for 10,000 entities. Opening tables is left out.',
    columns,
    rows: rows(cells, columns, () => ({})).filter(({ id }) => id !== 'emulator'),
    hasChart: false,
  };
}
