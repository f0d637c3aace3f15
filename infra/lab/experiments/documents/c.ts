// Document C: ten records of 10,000 characters or of one, in one transaction or one by one. Its
// `root.put()` lies inside its timing, and so it does here.
import { figureOf, type FigureTable, type Finding } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Experiment } from '../experiment.ts';
import { documentOf, type PlannedRow } from '../plan.ts';
import PUBLISHED from './published.json' with { type: 'json' };
import type { Way } from '../ways.ts';
import { ratiosIn, ratiosOf, ratiosText, verdictOf } from '../words.ts';

/** Ten records are written `repetitions` times a round; the figure is the mean. */
const FULL = { rounds: 5, repetitions: 5 };

const RECORDS = 10;
const { runs: THEN } = PUBLISHED.datastore_size_2009;

export function experimentC({ rounds, repetitions } = FULL): Experiment {
  const rows = [...rowsOf('big', 10_000, repetitions), ...rowsOf('small', 1, repetitions)];
  return documentOf({
    id: 'c',
    title: 'Improved Datastore performance: few large objects or many small ones',
    question: 'Does the size of what is written matter, or the number of entities and round trips?',
    source: { title: 'Improved Datastore performance', year: 2009, platform: 'Google App Engine, Python' },
    providers: ['datastore', 'azure-tables'],
    whereThen: 'App Engine, 2009',
    rounds,
    rowsHave: 'a table each',
    loaded: 0,
    characters: 1,
    rows: rows.map((row) => ({ ...row, against: 'big-single', per: RECORDS })),
    tables: [
      {
        id: 'seconds',
        title: 'Seconds for ten records',
        about: `Records of 10,000 characters (big) or of one (small), new keys each. Before every ten a root is written, by a put of its own, as the document's timing has it. ${rounds} rounds, the variants in turn; a figure of now is the mean of ${repetitions} repetitions a round.`,
        measures: [{ suffix: 's', measure: 'seconds for 10 records', unit: 's', better: 'lower' }],
      },
    ],
    cannotShow: [
      'A round trip to an emulator takes a fraction of a millisecond, so its number counts for less than in a data centre, and the bytes for more.',
      'An emulator keeps its data in memory: what the service does to make a write durable, and to replicate it, takes no time here.',
    ],
    findingsOf: ([seconds]) => findingsOf(seconds!),
  });
}

function rowsOf(size: 'big' | 'small', characters: number, repetitions: number): Omit<PlannedRow, 'against' | 'per'>[] {
  const way = (client: Way['client'], group: number, verb: Way['verb'] = 'write'): Way => {
    return { client, verb, records: RECORDS * repetitions, group, inFlight: 1, characters, rootEach: RECORDS };
  };
  return [
    {
      id: `${size}-transaction`,
      name: `${size}, in a transaction`,
      ...(size === 'big' ? { printed: { s: figureOf(THEN.big_transaction) } } : {}),
      way: way('sdk', RECORDS, 'transaction'),
    },
    {
      id: `${size}-single`,
      name: `${size}, one by one${size === 'big' ? ' (the baseline)' : ''}`,
      printed: { s: figureOf(THEN[`${size}_single`]) },
      way: way('sdk', 1),
    },
    {
      id: `${size}-batch`,
      name: `${size}, in one batch without a transaction`,
      marks: ['asked for in a comment'],
      way: (provider) => (provider === 'datastore' ? way('sdk', RECORDS) : 'a batch there is a transaction'),
    },
    { id: `store-${size}-single`, name: `this store: ${size}, put by put`, way: way('store', 1) },
    { id: `store-${size}-batch`, name: `this store: ${size}, one putMany`, way: way('store', RECORDS) },
  ];
}

/** Sizes of 1 to 10,000 "make no difference" if the times differ by less than this factor. */
const SAME = 1.25;

function findingsOf(seconds: FigureTable): Finding[] {
  const { before: then, now, of } = ratiosIn(seconds, 's');
  const [batched, transaction] = ['big-batch', 'big-transaction'].map((row) => ratiosOf(seconds, row, ['datastore-s']));
  const toTransaction = batched!.map((ratio, at) => ratio / transaction![at]!);
  return [
    {
      verdict: verdictOf(of('small-single'), (ratio) => 1 / ratio < SAME),
      text: `That size has no effect: one by one, records of one character took ${then('small-single')} the time of those of 10,000 then, and ${now('small-single')} now. What remains is work on bytes, which no distance hides here.`,
    },
    {
      verdict: verdictOf(of('big-transaction'), (ratio) => ratio < 1 / SAME),
      text: `That the number of round trips counts: one transaction took ${then('big-transaction')} the time of ten writes then, and ${now('big-transaction')} now; ten records of one character in one transaction, ${now('small-transaction')}. The root's own write is in all of them, then and now.`,
    },
    {
      verdict: verdictOf(toTransaction, (ratio) => ratio <= SAME),
      text: `That a batch without a transaction does it too, as a comment says: it takes ${ratiosText(seconds, 'big-batch', ['datastore-s'])} the time of ten writes, in one request where the transaction takes two.`,
    },
    {
      verdict: verdictOf(of('store-big-batch'), (ratio) => ratio < 0.5),
      text: `Few large objects: one putMany of this store writes the ten big records in ${now('store-big-batch')} the time of ten writes.`,
    },
  ];
}
