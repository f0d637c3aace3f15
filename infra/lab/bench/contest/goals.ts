// The contests, and the ratios to the plain SDK that each is to reach.
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { Cloud } from '../../../package/bundle.ts';

export type ContestName = 'bulk put' | 'put' | 'get' | 'get, leaf not cached' | 'getMany of 500' | 'scan';

type Ratios = Readonly<Record<Provider, number>>;

export interface Contest {
  readonly name: ContestName;
  /** Callers at a time, each waiting for its reply before it calls again. */
  readonly inFlight: number;
  /** Whether each round trip takes `FAR_RTT_MS` more. */
  readonly isFar: boolean;
  /** The least ratio of records a second, ours to theirs. */
  readonly rate: Ratios;
  /** The highest ratio of processor time a record; none of a far one, whose wait both have. */
  readonly processor: Ratios | undefined;
}

/** Added to each round trip of a far contest. */
export const FAR_RTT_MS = 10;

/** Stored bytes of the plain SDK's entities to ours, at least, index entries of fields counted. */
export const STORED_GOAL = 1.4;

/** Milliseconds to the first record of a cold function, over those of an empty one, at most. */
export const COLD_START_GOALS_MS: Readonly<Record<Cloud, number>> = { gcp: 300, azure: 200 };

/** Ratios on Datastore and on Azure Tables. */
type Pair = readonly [datastore: number, azure: number];

function near(name: ContestName, inFlight: number, rate: Pair, processor: Pair): Contest {
  return { name, inFlight, isFar: false, rate: ratios(rate), processor: ratios(processor) };
}

function far(name: ContestName, inFlight: number, rate: Pair): Contest {
  return { name, inFlight, isFar: true, rate: ratios(rate), processor: undefined };
}

function ratios([datastore, azure]: Pair): Ratios {
  return { datastore, 'azure-tables': azure };
}

export const CONTESTS: readonly Contest[] = [
  near('bulk put', 1, [5, 10], [0.35, 0.2]),
  near('put', 1, [1.1, 1], [0.6, 0.7]),
  near('put', 32, [3, 2], [0.4, 0.5]),
  near('put', 256, [5, 4], [0.25, 0.25]),
  near('get', 1, [1.5, 1.2], [0.4, 0.6]),
  near('get', 32, [10, 3], [0.15, 0.35]),
  near('get', 256, [20, 10], [0.06, 0.15]),
  near('get, leaf not cached', 1, [0.4, 0.4], [0.8, 1.1]),
  near('getMany of 500', 1, [4, 20], [0.2, 0.05]),
  near('scan', 1, [8, 4], [0.15, 0.25]),
  far('put', 1, [1, 1]),
  far('put', 32, [2, 1.5]),
  far('get', 1, [1, 1]),
  far('get', 32, [2, 1.5]),
];
