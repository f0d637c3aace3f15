// Document B: 10,000 entities into Azure Tables, by single inserts, in groups, and in parallel.
import {
  type Figure,
  figureOf,
  type FigureTable,
  type Finding,
  meanOf,
} from '../../../../shared/lab/report/chapters/schema.ts';
import type { Experiment } from '../experiment.ts';
import { documentOf, type PlannedRow } from '../plan.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import type { Way } from '../ways.ts';
import { ratiosIn, verdictOf } from '../words.ts';

/**
 * As the document, but fewer singly, where each is a request of its own: 10,000 took half an hour
 * then, and a minute now.
 */
const FULL = { entities: 10_000, singles: 500, rounds: 5 };

type Options = typeof FULL;

const { runs: THEN, ...PRINTED } = PUBLISHED.azure_tables_2011;
const ENTITIES_THEN = 10_000;
/** The service's limit of a group transaction, and the customary size of a commit on Datastore. */
const [GROUP, LARGE_GROUP] = [100, 500];
/** Connections that ASP.NET of that day allowed a processor, and with everything switched on. */
const [PARALLEL, PARALLEL_MOST] = [12, 48];
/** A text of 49 characters and a counter. */
const CHARACTERS = 53;

export function experimentB(options: Options = FULL): Experiment {
  const { entities, singles, rounds } = options;
  return documentOf({
    id: 'b',
    title: 'Speeding up Azure Table Storage: groups and parallelism',
    question: 'How are ten thousand entities written fastest?',
    source: {
      title: 'Speeding up Azure Table Storage (2): parallelism (in Japanese)',
      year: 2011,
      platform: 'Azure Table Storage from one small web role, C#',
    },
    providers: ['azure-tables', 'datastore'],
    whereThen: 'Azure Tables, 2011',
    rounds,
    rowsHave: 'a table each run',
    loaded: 0,
    characters: CHARACTERS,
    rows: rowsOf(options).map((row) => ({ ...row, against: 'baseline', per: ENTITIES_THEN })),
    tables: [
      {
        id: 'rates',
        title: 'Entities a second, and seconds for 10,000',
        about: `A key like a GUID and a text of ${CHARACTERS} characters each, all in one partition. ${entities.toLocaleString('en-US')} are written a run, singly ${singles}; seconds are for 10,000 in any case. ${rounds} rounds as then, the variants in turn.`,
        measures: [
          { suffix: 'rate', measure: 'entities a second', unit: 'entities/s', better: 'higher' },
          { suffix: 's', measure: 'seconds for 10,000 entities', unit: 's', better: 'lower' },
        ],
      },
    ],
    cannotShow: [
      `What connections are worth. The document also tried 48 of them (${secondsOf(THEN.connections_48)} s), Expect: 100-continue off (${secondsOf(THEN.expect_100_off)}) and Nagle off (${secondsOf(THEN.nagle_off)}), each alone, against ${secondsOf(THEN.baseline)} of its baseline. Between a client and an emulator on one machine there is no distance that they could save.`,
      'Client and emulator share the processors, so parallel requests gain what one of them leaves idle, not what a service of many machines could answer.',
      'An emulator does not throttle: the service aims at 2,000 entities a second in one partition (its scalability targets), an emulator takes what its processor gives.',
    ],
    findingsOf: ([rates]) => findingsOf(rates!),
  });
}

function inSeconds(seconds: readonly number[]): Record<string, Figure> {
  return { s: figureOf(seconds), rate: figureOf(seconds.map((each) => ENTITIES_THEN / each)) };
}

function write(client: Way['client'], records: number, group: number, inFlight = 1): Way {
  return { client, verb: 'write', records, group, inFlight, characters: CHARACTERS };
}

function rowsOf({ entities, singles }: Options): Omit<PlannedRow, 'against' | 'per'>[] {
  return [
    {
      id: 'single',
      name: 'without group transactions',
      printed: { rate: figureOf([PRINTED.single_entities_per_second]) },
      way: write('sdk', singles, 1),
    },
    {
      id: 'baseline',
      name: 'group transactions of 100, one after the other (the baseline)',
      standIn: 'on Datastore commits of 100',
      printed: { s: figureOf(THEN.baseline), rate: figureOf(PRINTED.entities_per_second.baseline) },
      way: write('sdk', entities, GROUP),
    },
    {
      id: 'parallel',
      name: 'parallel loop over batches of 100',
      standIn: `${PARALLEL} batches at a time`,
      printed: { s: figureOf(THEN.parallel), rate: figureOf(PRINTED.entities_per_second.parallel) },
      way: write('sdk', entities, GROUP, PARALLEL),
    },
    {
      id: 'everything',
      name: 'everything together, over 48 connections',
      standIn: `${PARALLEL_MOST} batches at a time`,
      printed: inSeconds(THEN.everything),
      marks: [`best and worst that the text names: ${PRINTED.everything_best_and_worst_seconds.join(' and ')} s`],
      way: write('sdk', entities, GROUP, PARALLEL_MOST),
    },
    {
      id: 'emulator',
      name: 'the local emulator of that day',
      printed: inSeconds([PRINTED.local_emulator_seconds]),
      way: 'all figures of now are from emulators',
    },
    {
      id: 'large',
      name: 'commits of 500, one after the other',
      way: (provider) =>
        provider === 'datastore' ? write('sdk', entities, LARGE_GROUP) : 'a group transaction has 100 at most',
    },
    { id: 'store-single', name: 'this store: put, one after the other', way: write('store', singles, 1) },
    {
      id: 'store-baseline',
      name: 'this store: putMany of 100, one after the other',
      way: write('store', entities, GROUP),
    },
    {
      id: 'store-parallel',
      name: 'this store: putMany of 100, 48 at a time',
      way: write('store', entities, GROUP, PARALLEL_MOST),
    },
    { id: 'store-whole', name: 'this store: one putMany of all', way: write('store', entities, entities) },
  ];
}

function secondsOf(runs: readonly number[]): string {
  return meanOf(figureOf(runs))!.toFixed(2);
}

/** A rate counts as another from a quarter on. */
const NOTICEABLE = 1.25;

function findingsOf(rates: FigureTable): Finding[] {
  const { before: then, now, of } = ratiosIn(rates, 'rate');
  // Without distance there is little to gain: that nothing was gained says nothing of the service.
  const gained = (row: string): Finding['verdict'] =>
    verdictOf(of(row), (ratio) => ratio > NOTICEABLE) === 'holds' ? 'holds' : 'open';
  return [
    {
      verdict: verdictOf(of('single'), (ratio) => ratio < 0.5),
      text: `Groups of 100 are what counts: single writes reached ${then('single')} of their rate then, and ${now('single')} now, with no distance to save.`,
    },
    {
      verdict: gained('parallel'),
      text: `Batches in parallel had ${then('parallel')} the baseline's rate then, and ${now('parallel')} now, where client and emulator share two processors.`,
    },
    {
      verdict: gained('everything'),
      text: `Everything together reached ${then('everything')} the baseline's rate then, and 48 batches at a time ${now('everything')} now.`,
    },
    {
      verdict: verdictOf(of('store-whole'), (ratio) => ratio > 1),
      text: `Packed into containers, one putMany of all has ${now('store-whole')} the baseline's rate.`,
    },
  ];
}
