// The rows of `npm run scale`: who calls what, and what the checks ask of the store.
import type { SlowProfile } from '../../drivers/slow/profiles.ts';

const EVEN = { ms: 6, furtherEntityMs: 0, kibMs: 0 };

/** The cloud that goals are of: no service's, so that they say something of the store alone. */
export const EVEN_PROFILE: SlowProfile = { read: EVEN, query: EVEN, commit: EVEN, sigma: 0.6, locksEntities: false };

/**
 * `queue` puts a record behind all and then deletes the first; `half puts` puts or gets. The rest
 * of the names say what a call does.
 */
export type Work = 'put' | 'get' | 'update' | 'put of one record' | 'append' | 'queue' | 'half puts';

/** `instances` processes of `callers` callers, who call again as soon as they are answered. */
export interface Row {
  readonly work: Work;
  readonly instances: number;
  readonly callers: number;
  readonly records: number;
  readonly keys?: 'zipfian';
  readonly goal?: Goal;
}

/** `rate`: the least share of plain's. The others: the most. */
export interface Goal {
  readonly rate: number;
  /** Requests, and entities written, per call. */
  readonly requests: number;
  readonly writes: number;
  /** Entities at the end. */
  readonly entities: number;
  readonly p99Ms: number;
}

type Numbers = readonly [rate: number, requests: number, writes: number, entities: number, p99Ms: number];

const goal = (...[rate, requests, writes, entities, p99Ms]: Numbers): Goal => ({
  rate,
  requests,
  writes,
  entities,
  p99Ms,
});

const putters = (instances: number, callers: number, records: number, asked?: Goal): Row => ({
  work: 'put',
  instances,
  callers,
  records,
  ...(asked && { goal: asked }),
});

export const ROWS: readonly Row[] = [
  putters(1, 64, 500, goal(0.97, 0.03, 0.03, 1, 30)),
  putters(1, 64, 20_000, goal(0.57, 0.4, 0.42, 25, 40)),
  putters(1, 16, 100_000, goal(0.85, 1, 1, 100, 32)),
  { work: 'append', instances: 1, callers: 16, records: 1_000, goal: goal(0.95, 0.08, 0.08, 50, 32) },
  // A call is a put and a delete, for plain as for the store.
  { work: 'queue', instances: 1, callers: 16, records: 1_000, goal: goal(0.95, 0.16, 0.16, 36, 64) },
  putters(2, 32, 500, goal(0.3, 0.12, 0.06, 2, 125)),
  putters(2, 32, 20_000, goal(0.3, 1.9, 1.05, 400, 100)),
  putters(4, 32, 500, goal(0.17, 0.2, 0.1, 4, 190)),
  putters(4, 32, 20_000, goal(0.42, 2.2, 1.1, 1_200, 60)),
  putters(4, 4, 20_000, goal(0.45, 2.1, 1.1, 260, 60)),
  putters(16, 4, 20_000, goal(0.44, 2.3, 1.2, 700, 60)),
  putters(64, 1, 20_000, goal(0.42, 2.4, 1.2, 900, 60)),
  { work: 'append', instances: 4, callers: 4, records: 1_000, goal: goal(0.18, 1.4, 1.1, 60, 200) },
  // In a check's window its p99 is the eighth slowest of some 770 calls.
  { work: 'queue', instances: 4, callers: 4, records: 1_000, goal: goal(0.23, 2.1, 1.1, 40, 250) },
  {
    work: 'half puts',
    instances: 8,
    callers: 8,
    records: 20_000,
    keys: 'zipfian',
    goal: goal(0.5, 1.75, 0.6, 520, 90),
  },
  { work: 'put of one record', instances: 16, callers: 4, records: 500 },
  { work: 'update', instances: 16, callers: 4, records: 20_000 },
  { work: 'get', instances: 16, callers: 4, records: 20_000 },
  { work: 'put', instances: 1, callers: 64, records: 20_000, keys: 'zipfian' },
];

export function nameOf({ instances, callers, work, records, keys }: Row): string {
  return `${instances} x ${callers} ${work}, ${records.toLocaleString('en')} records${keys === undefined ? '' : `, ${keys}`}`;
}
