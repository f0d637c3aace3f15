// The numbers of `contention.ts`, in a table so that they can be compared and taken out one by one.
// "Without" tells what `npm run scale` shows then, on its even round trips unless a service is
// named; "4 x 4 queue" is its row of 4 processes with 4 callers each and the load `queue`
// (shared/lab/README.md, "Many processes"). All times are in milliseconds. A number of which
// nothing is told bounds something, or was not measured apart from others.

/** Containers that are remembered, the last ones looked at. */
export const CONTAINERS_MAX = 10_000;
/** Rates average over about this time: much longer than between two writes, shorter than a rush. */
export const HORIZON_MS = 5_000;
/** The same for all containers together: a second in which four were watched counts as 4 s. */
export const TABLE_HORIZON_MS = 4 * HORIZON_MS;
/**
 * A container that was watched for less than this is taken for one like the others. Without: 4 x 4
 * queue makes 8 % fewer calls, with 10 % more requests per call.
 */
export const PRIOR_MS = 1_000;
/** Read first where others probably made more commits than this since the last look. */
export const STALE_MAX = 0.16;
/**
 * Commits with no more round trips than this between them follow in a row: a read comes in between.
 * Without: the slowest of a hundred calls takes 10 % longer (2 x 32 put of 500 records,
 * 4 x 4 queue), though the rate is up to 6 % higher.
 */
export const IN_A_ROW_ROUND_TRIPS = 2;
/** After a refusal or commits of others, so many own commits yield, follow a read, or go alone. */
export const WARY_COMMITS = 8;

/**
 * Where commits stand in line, processes yield if more commits than this are made while one is
 * under way. With 0.5 on Datastore: 4 x 4 append makes 11 % fewer calls. Without any yield: 26 %
 * fewer, and one record is hardly written at all.
 */
export const CROWD_TO_YIELD = 0.25;
/**
 * The same where a refusal comes at once and holds nobody up. Half of that: 4 x 4 queue makes 17 %
 * fewer calls. Without any yield: one record by 16 processes takes 39 % more requests per call.
 */
export const CROWD_TO_YIELD_AT_ONCE = 0.5;
/** So many of the writers that have waited longest do not yield. */
export const WRITERS_AT_ONCE = 2;
/**
 * Any other process waits, for each writer ahead of it, this share of the mean time between
 * commits, so that the rate can rise. With a share of the round trip: one record takes 11 % more
 * requests per call.
 */
export const YIELD_SHARE = 0.3;
/**
 * But at least so many round trips for each writer ahead. Without: 64 cold processes on the
 * Datastore profile make 0.9 of the puts in their first 9 s, and half after 20 s; no even row
 * moves.
 */
export const YIELD_ROUND_TRIPS_LEAST = 0.4;
/**
 * A commit that takes so many round trips stood in line with others of its container. Without this
 * and the random waits below: 64 processes make half as many puts in their first seconds on
 * Datastore, and 16 at one record a third.
 */
export const IN_LINE_ROUND_TRIPS = 3;
/**
 * A process that the header does not name waits at random for some round trips after so many
 * refusals in a row. One that was refused in a line waits, from the first on, at random up to some
 * times as long as it stood there.
 */
export const REFUSALS = 2;
/**
 * How often refusals in a row double such a wait. If every wait were twice the line, then on the
 * Datastore profile 64 cold processes make 0.7 of the puts in their first 9 s, and later a caller
 * waits for its whole deadline: a line that lets all come back after its own length stays as long
 * as it is.
 */
export const REFUSAL_DOUBLINGS_MOST = 3;
/** The longest single wait, whatever the number of writers or a header's freeze. */
export const YIELD_MOST_MS = 1_000;
/** The most waits in a row; then a commit is tried whatever others do. */
export const YIELDS_MOST = 16;

/**
 * A freeze is long enough for a reply, the slowest insert of a split, and the write of its link.
 * Without freezes: 4 x 4 queue leaves 26 entities instead of 8.
 */
export const FREEZE_ROUND_TRIPS = 5;
/** And for reading and writing its pages. */
export const SPLIT_BYTES_A_MS = 2_048;
/**
 * Most splits end before their freeze does: a process that waits looks so often. With one look per
 * freeze: the slowest of a hundred calls of 4 x 4 put takes 12 % longer.
 */
export const LOOKS_A_FREEZE = 4;

/**
 * A leaf is split where requests per change, times round trips that it waits, are more than this.
 * In a leaf of its own among writers a change takes a read and a commit: 2 times 2. Where a process
 * writes alone the product is at most 1.6, so none splits a leaf for its own callers.
 */
export const PRODUCT_MAX = 4.2;
/** After n commits it must lie above that by a share of DOUBT / sqrt(n), which may be chance. */
export const DOUBT = 3.5;
/** Each commit counts so much less than the next: about the last two hundred count. */
export const KEPT = 0.995;
/**
 * What a leaf's own commits lack to this is filled up with those of leaves that are like it.
 * Without: 4 x 4 put leaves 40 % more entities.
 */
export const COMMITS_ENOUGH = 50;
/**
 * A leaf with fewer commits of this process says nothing about itself. With 2: 64 cold processes on
 * the Datastore profile make 1.5 times the puts in their first 9 s, but 8 x 8 half puts leave
 * a third more entities.
 */
export const COMMITS_LEAST = 3;
/** A longer wait is one for something else: a lost reply, a split, a pause of the process. */
export const ROUND_TRIPS_MOST = 16;
export const ROUND_TRIP_LEAST_MS = 0.01;
/**
 * A commit that nothing holds up takes no longer than so many reads. Without, on Datastore: 4 x 4
 * put makes 11 % fewer calls.
 */
export const COMMIT_READS = 3;
/** Nodes of one split: their names fit into the header (`container/split.ts`). */
export const NODES_MAX = 16;
/**
 * Positions of the last changes: whether all lie close together. Without: 4 x 4 append leaves 76 %
 * more entities.
 */
export const POSITIONS_KEPT = 8;
