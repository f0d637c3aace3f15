// The contests there are, and the ratio to the plain SDK that each is to reach: whoever replaces SDK calls by this store must not lose
// speed for a lone call, and gains where calls can share an entity or a request.
import type { Provider } from '../../../shared/compare/dimensions.ts';

export type ContestName =
  'bulk put' | 'put' | 'get' | 'get, leaf not cached' | 'getMany of 500' | 'scan' | 'stored bytes';

export interface Goal {
  readonly name: ContestName;
  readonly inFlight: number;
  /** Whether it is also run, or only run, over a link with a long round trip. */
  readonly isFar: boolean;
  readonly ratios: Readonly<Record<Provider, number>>;
}

/** A contest and its goals on Datastore and on Azure Tables. */
function near(name: ContestName, inFlight: number, datastore: number, azure: number): Goal {
  return { name, inFlight, isFar: false, ratios: { datastore, 'azure-tables': azure } };
}

function far(name: ContestName, inFlight: number, datastore: number, azure: number): Goal {
  return { ...near(name, inFlight, datastore, azure), isFar: true };
}

export const GOALS: readonly Goal[] = [
  near('bulk put', 1, 5, 15),
  near('put', 1, 1, 1),
  near('put', 32, 3, 2),
  near('put', 256, 5, 4),
  near('get', 1, 1.5, 1),
  near('get', 32, 10, 3),
  near('get', 256, 20, 10),
  near('get, leaf not cached', 1, 0.4, 0.4),
  near('getMany of 500', 1, 4, 20),
  near('scan', 1, 8, 4),
  near('stored bytes', 1, 1.4, 1.4),
  far('put', 1, 1, 1),
  far('put', 32, 2, 1.5),
  far('get', 1, 1, 1),
  far('get', 32, 2, 1.5),
];
