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

function goal(name: ContestName, inFlight: number, datastore: number, azure: number, isFar = false): Goal {
  return { name, inFlight, isFar, ratios: { datastore, 'azure-tables': azure } };
}

export const GOALS: readonly Goal[] = [
  goal('bulk put', 1, 5, 15),
  goal('put', 1, 1, 1),
  goal('put', 32, 3, 2),
  goal('put', 256, 5, 4),
  goal('get', 1, 1.5, 1),
  goal('get', 32, 10, 3),
  goal('get', 256, 20, 10),
  goal('get, leaf not cached', 1, 0.4, 0.4),
  goal('getMany of 500', 1, 4, 20),
  goal('scan', 1, 8, 4),
  goal('stored bytes', 1, 1.4, 1.4),
  goal('put', 1, 1, 1, true),
  goal('put', 32, 2, 1.5, true),
  goal('get', 1, 1, 1, true),
  goal('get', 32, 2, 1.5, true),
];
