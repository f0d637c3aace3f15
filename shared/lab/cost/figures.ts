// Measured figures of an estimate, from emulators: they tell no cloud's durations.
import type { Provider, UsersLayout } from '../kit/dimensions.ts';

export type Verb = 'get' | 'put' | 'scan';

/** `fixed` + `factor` x `recordBytes`: infra/lab/bench/README.md, records of 500 bytes. */
export const STORED_BYTES: Readonly<
  Record<'entity' | 'container', Record<Provider, { fixed: number; factor: number }>>
> = {
  entity: { datastore: { fixed: 1_175, factor: 1 }, 'azure-tables': { fixed: 156, factor: 2 } },
  container: { datastore: { fixed: 0, factor: 0.618 }, 'azure-tables': { fixed: 0, factor: 0.618 } },
};

/** Requests of containers, each a billed operation on both clouds. README.md has the formulas. */
export const CONTAINERS = {
  /** Bytes of a container after a load. Source: tests/lab/cost/workload.test.ts counts them. */
  storedBytes: 400_000,
  /**
   * Containers that an instance of 64 MiB of cache knows: a sixteenth of it holds headers, each 384
   * bytes and a two hundredth of its container. Source: shared/store/io/container-cache.ts.
   */
  known: 1_759,
  /** Reads before a put beside other writers. Source: `npm run scale`: 1.1. */
  looksAPut: 1.1,
  /** Others' puts in flight in a container that was split. Source: `npm run scale`: 0.10, 0.12. */
  crowdMax: 0.12,
} as const;

/** Records of the plain SDK in one billed request. */
export const SDK_BATCH_MAX: Readonly<Record<Provider, { read: number; write: number; scan: number }>> = {
  // Entities are billed one by one, however they are sent.
  datastore: { read: 1, write: 1, scan: 1 },
  // No batched get; 100 operations a group transaction; 1,000 entities a page of a query.
  'azure-tables': { read: 1, write: 100, scan: 1_000 },
};

/** One call at a time; infra/lab/bench/README.md. A delete is taken as a put. */
export const CALL_MS: Readonly<
  Record<Provider, Record<UsersLayout, Record<Verb, { first: number; further: number }>>>
> = {
  datastore: {
    record: callMs([76, 76], [70, 70], 10_773),
    batch: callMs([76, 15_931], [70, 6_401], 10_773),
    container: callMs([74, 41_904], [64, 22_256], 51_972),
  },
  'azure-tables': {
    record: callMs([79, 79], [75, 75], 15_764),
    batch: callMs([79, 1_503], [75, 5_837], 15_764),
    container: callMs([75, 25_489], [71, 34_363], 50_903),
  },
};

/** From rates in records a second: of lone records, and of further ones in the same call. */
function callMs(get: Rates, put: Rates, scan: number) {
  return { get: verbMs(get), put: verbMs(put), scan: verbMs([get[0], scan]) };
}

type Rates = readonly [lone: number, further: number];

function verbMs([lone, further]: Rates) {
  return { first: 1_000 / lone, further: 1_000 / further };
}
