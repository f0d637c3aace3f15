// The rows of `npm run scale`: their load, and the goals that the checks hold the store to.
import type { SlowProfile } from '../../drivers/slow/profiles.ts';

const EVEN = { ms: 6, furtherEntityMs: 0, kibMs: 0 };

/** The cloud of the goals. It is no real service's, so that goals are about the store alone. */
export const EVEN_PROFILE: SlowProfile = { read: EVEN, query: EVEN, commit: EVEN, sigma: 0.6, locksEntities: false };

/**
 * `append` puts a record behind all others, `queue` also deletes the first. `half puts` puts or
 * gets. The other names say what a call does.
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

/** `rate`: at least this share of plain's. The others are upper bounds. */
export interface Goal {
  readonly rate: number;
  /** Requests, and entities written, per call. */
  readonly requests: number;
  readonly writes: number;
  /** Entities at the end. */
  readonly entities: number;
  readonly p99Ms: number;
}

type Bounds = readonly [rate: number, requests: number, writes: number, entities: number, p99Ms: number];

type Load = readonly [instances: number, callers: number, records: number];

function row(work: Work, [instances, callers, records]: Load, bounds?: Bounds): Row {
  if (bounds === undefined) return { work, instances, callers, records };
  const [rate, requests, writes, entities, p99Ms] = bounds;
  return { work, instances, callers, records, goal: { rate, requests, writes, entities, p99Ms } };
}

export const ROWS: readonly Row[] = [
  row('put', [1, 64, 500], [0.97, 0.03, 0.03, 1, 30]),
  row('put', [1, 64, 20_000], [0.57, 0.4, 0.42, 25, 40]),
  row('put', [1, 16, 100_000], [0.85, 1, 1, 100, 32]),
  row('append', [1, 16, 1_000], [0.95, 0.08, 0.08, 50, 32]),
  // A call is a put and a delete, for plain as for the store.
  row('queue', [1, 16, 1_000], [0.95, 0.16, 0.16, 36, 64]),
  row('put', [2, 32, 500], [0.3, 0.12, 0.06, 2, 125]),
  row('put', [2, 32, 20_000], [0.3, 1.9, 1.05, 400, 100]),
  row('put', [4, 32, 500], [0.17, 0.2, 0.1, 4, 190]),
  row('put', [4, 32, 20_000], [0.42, 2.2, 1.1, 1_200, 60]),
  row('put', [4, 4, 20_000], [0.45, 2.1, 1.1, 260, 60]),
  row('put', [16, 4, 20_000], [0.44, 2.3, 1.2, 700, 60]),
  row('put', [64, 1, 20_000], [0.42, 2.4, 1.2, 900, 60]),
  row('append', [4, 4, 1_000], [0.18, 1.4, 1.1, 60, 200]),
  // In a check's window its p99 is the eighth slowest of some 770 calls.
  row('queue', [4, 4, 1_000], [0.23, 2.1, 1.1, 40, 250]),
  { ...row('half puts', [8, 8, 20_000], [0.5, 1.75, 0.6, 520, 90]), keys: 'zipfian' },
  row('put of one record', [16, 4, 500]),
  row('update', [16, 4, 20_000]),
  row('get', [16, 4, 20_000]),
  { ...row('put', [1, 64, 20_000]), keys: 'zipfian' },
];

export function nameOf({ instances, callers, work, records, keys }: Row): string {
  return `${instances} x ${callers} ${work}, ${records.toLocaleString('en')} records${keys === undefined ? '' : `, ${keys}`}`;
}
