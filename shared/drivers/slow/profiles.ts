// How late each service answers a caller in its region, November 2026. As neither provider
// publishes latencies, each figure says whether others measured it, a document has it, or it is a
// guess.

/** The median time of a round trip, with the network and the service. */
export interface RoundTrip {
  /** For a request for one entity. */
  readonly ms: number;
  /** What each further entity of the same request adds. */
  readonly furtherEntityMs: number;
  /** What each KiB of request or reply adds. */
  readonly kibMs: number;
}

export interface SlowProfile {
  readonly read: RoundTrip;
  readonly query: RoundTrip;
  readonly commit: RoundTrip;
  /** The spread: a round trip is its median times a lognormal of this sigma. */
  readonly sigma: number;
  /** This share of the requests takes so many times as long. */
  readonly tail?: { readonly share: number; readonly factor: number } | undefined;
  /** Entities per second that a partition takes; more are throttled. */
  readonly partitionPerSecond?: number;
  /** Requests per second that the account takes; more are throttled. */
  readonly accountPerSecond?: number;
  /** Whether a commit holds its entities for half of its time, and others wait for them. */
  readonly locksEntities: boolean;
}

/**
 * Measured: ten requests each from Cloud Run in europe-west1 to a database in europe-west2
 * (https://github.com/googleapis/google-cloud-dotnet/issues/5333, 2020, by a maintainer): lookups
 * had a median of 14.5 ms, queries 19, inserts 47.5, with some 6 ms for the way between the
 * regions, and their logarithms spread by 0.18 to 0.28. The commit is put lower, as ten are few.
 */
export const DATASTORE_PROFILE: SlowProfile = {
  // A guess for each key: between nothing and what batches took in 2014
  // (https://blog.famzah.net/2014/05/02/google-app-engine-datastore-benchmark/: 1,000 in 1.5 s).
  // The guesses for a KiB: 100 MB/s read, 50 written.
  read: { ms: 9, furtherEntityMs: 0.15, kibMs: 0.01 },
  query: { ms: 14, furtherEntityMs: 0, kibMs: 0.01 },
  // Each entity: less than half of what those batches took for a read and a write.
  commit: { ms: 31, furtherEntityMs: 0.8, kibMs: 0.02 },
  sigma: 0.3,
  // Guessed.
  tail: { share: 0.01, factor: 5 },
  // Documented: a write waits for others of its entity
  // (https://cloud.google.com/datastore/docs/concepts/transactions). For how long: a guess.
  locksEntities: true,
};

/**
 * Measured: most reads from a function in the same region took less than 10 ms
 * (https://github.com/Azure/Azure-Functions/issues/1238, 2019). The rest of the times are guesses:
 * a write takes twice a read, as three copies are written, and so does a query.
 */
export const AZURE_TABLES_PROFILE: SlowProfile = {
  // There is no read of several entities. The guesses for a KiB: 100 MB/s read, 50 written, base64.
  read: { ms: 5, furtherEntityMs: 0, kibMs: 0.015 },
  query: { ms: 9, furtherEntityMs: 0, kibMs: 0.015 },
  // Within what https://stackoverflow.com/questions/15025906 (2013) saw: transactions of 100
  // entities took at most 400 ms.
  commit: { ms: 9, furtherEntityMs: 0.4, kibMs: 0.03 },
  sigma: 0.4,
  // That there is one: https://github.com/Azure/azure-storage-net/issues/719 (2018). Its size is a
  // guess.
  tail: { share: 0.01, factor: 8 },
  // Documented: https://learn.microsoft.com/azure/storage/tables/scalability-targets, for entities
  // of 1 KiB. What larger ones count is not said: here one.
  partitionPerSecond: 2_000,
  accountPerSecond: 20_000,
  // A condition that does not hold is refused at once.
  locksEntities: false,
};

/** The spread of round trips with a given median. Without it callers would move in step. */
const EVEN_SIGMA = 0.4;

/** Every round trip has this median, whatever is asked; limits and locks stay as they are. */
export function evenly(ms: number, profile: SlowProfile): SlowProfile {
  const roundTrip = { ms, furtherEntityMs: 0, kibMs: 0 };
  return { ...profile, read: roundTrip, query: roundTrip, commit: roundTrip, sigma: EVEN_SIGMA, tail: undefined };
}
