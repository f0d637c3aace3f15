// What a process does about others that write the same containers: it reads before it commits,
// yields to those that waited longer, splits a leaf that is dear to share, and asks others to leave
// it alone meanwhile. `note` keeps what was seen as plain data; `advise` says what follows from it.
// A wrong advice costs requests or time, never a record: no rule rests on it.
import type { Change } from '../container/change.ts';
import { layersOf } from '../container/layers.ts';
import { sumsOf } from '../container/size.ts';
import { pageBytesOf, type Snapshot } from '../container/snapshot.ts';
import { writersAhead } from '../container/writers.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Header } from '../format/header.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { PageRef } from '../format/page-table.ts';
import type { Position } from '../format/position.ts';

/** Containers that are remembered, the last ones looked at. */
const CONTAINERS_MAX = 10_000;
/** Rates average over about this time: long against two writes, short against a rush. */
const HORIZON_MS = 5_000;
/** The same for all containers together: a second in which four were watched counts as 4 s. */
const TABLE_HORIZON_MS = 4 * HORIZON_MS;
/** A container that was watched for less than this is taken for one like the others. */
const PRIOR_MS = 1_000;
/** Read first where others probably made more commits than this since the last look. */
const STALE_MAX = 0.16;
/** Commits follow each other in a row with no more round trips between them. */
const IN_A_ROW_ROUND_TRIPS = 2;
/** After trouble so many own commits are wary: they yield, follow a look, or go alone. */
const WARY_COMMITS = 8;

/** Processes yield where so many commits are made while one is under way. */
const CROWD_TO_YIELD = 0.25;
/** A refusal that comes at once holds nobody up: there yielding costs more than refusals do. */
const CROWD_TO_YIELD_AT_ONCE = 0.5;
/** The second of the writers tries at once; the others yield, for each writer before them... */
const WRITERS_AT_ONCE = 2;
/** ...this share of the mean time between commits, so that the rate can rise. */
const YIELD_SHARE = 0.3;
/** A commit that takes so many round trips stood in line with others of its container. */
const IN_LINE_ROUND_TRIPS = 3;
/** If it was refused, the process yields at random up to so many times as long: lines dissolve. */
const LINES_YIELDED = 2;
/** After so many refusals in a row a writer that the header does not name yields at random. */
const REFUSALS = 2;
const REFUSAL_DOUBLINGS_MOST = 3;
/** However many wait, and whatever a header asks for: then a process looks again. */
const YIELD_MOST_MS = 1_000;
/** Processes that yielded come back at different times, spread over this share of their wait. */
const YIELD_SPREAD = 0.25;
/** So often in a row: then a commit is tried whatever others do. */
const YIELDS_MOST = 16;

/** A freeze is long enough for a reply, the slowest insert of a split, and the way of its link. */
const FREEZE_ROUND_TRIPS = 5;
/** And for reading and writing its pages. */
const SPLIT_BYTES_A_MS = 2_048;
/** Most splits end before their freeze does: a process that waits looks so often. */
const LOOKS_A_FREEZE = 4;

/**
 * A leaf is split where requests per change, times round trips that it waits, are more than this.
 * In a leaf of its own among writers a change takes a read and a commit: 2 times 2. Where a process
 * writes alone the product is at most 1.6, so none splits a leaf for its own callers.
 */
const PRODUCT_MAX = 4.2;
/** After n commits it must lie above that by a share of DOUBT / sqrt(n), which may be chance. */
const DOUBT = 3.5;
/** Each commit counts so much less than the next: about the last two hundred count. */
const KEPT = 0.995;
/** What a leaf's own commits lack to this is filled up with those of leaves that are like it. */
const COMMITS_ENOUGH = 50;
/** A leaf with fewer commits of this process says nothing about itself. */
const COMMITS_LEAST = 3;
/** A longer wait is one for something else: a lost reply, a split, a pause of the process. */
const ROUND_TRIPS_MOST = 16;
const ROUND_TRIP_LEAST_MS = 0.01;
/** A commit that nothing holds up takes no longer than so many reads. */
const COMMIT_READS = 3;
/** Nodes of one split: their names fit into the header (`last-split.ts`). */
const NODES_MAX = 16;
/** Positions of the last changes: whether all lie close together. */
const POSITIONS_KEPT = 8;

/** How soon requests are answered, and how commits of one entity meet. */
export interface Way {
  readonly reads: { readonly roundTripMs: number };
  readonly commits: { readonly roundTripMs: number; readonly meanRoundTripMs: number };
  /** The driver's: whether commits stand in line at one entity, instead of a refusal at once. */
  readonly commitsWait: boolean;
}

/** How often something happened while it was watched; both fade. */
interface Rate {
  readonly count: number;
  readonly watchedMs: number;
}

/** What the changes of this process cost: sums over its last commits. */
interface Costs {
  readonly requests: number;
  readonly roundTrips: number;
  readonly changes: number;
  readonly commits: number;
}

/** One container, as this process saw it. */
interface Seen {
  /** Commits of other processes, and of this one. */
  foreign: Rate;
  own: Rate;
  lastCommitMs: number;
  costs: Costs;
  requestsSinceCommit: number;
  positions: readonly Position[];
  /** Since the last look. */
  hasCommitted: boolean;
  /** Looks still to be taken because one met a commit of others. */
  looksDue: number;
  /** Own commits before which it still yields, or that go alone. */
  yieldsLeft: number;
  aloneLeft: number;
  refusalsInARow: number;
  /** It was refused, and has not yielded since. */
  isRefused: boolean;
  /** How long the refused commit stood in line; 0: it did not. */
  lineMs: number;
  /** It began to yield after this commit, then. */
  yieldsAfter: Id64 | undefined;
  yieldsSinceMs: number;
  yieldsInARow: number;
}

/** One table, as this process saw it. */
export interface Contention {
  /** This process's, with which the ids of its commits begin. */
  readonly tag: string;
  readonly way: Way;
  /** The last ones looked at come last. */
  readonly containers: Map<EntityId, Seen>;
  /** Commits of others in all containers: what is usual. */
  foreign: Rate;
  /** What changes cost in leaves that this process commits to seldom. */
  seldom: Costs;
}

const NEVER: Rate = { count: 0, watchedMs: 0 };
const NOTHING: Costs = { requests: 0, roundTrips: 0, changes: 0, commits: 0 };

export function newContention(tag: string, way: Way): Contention {
  return { tag, way, containers: new Map(), foreign: NEVER, seldom: NOTHING };
}

/** What was seen of a container, or done to it. */
export type Sighting =
  /** A reply showed so many commits of others since one that is `ms` older. */
  | { readonly kind: 'look'; readonly foreignCommits: number; readonly ms: number; readonly wasSplit: boolean }
  /** A read for the sake of its changes was answered. */
  | { readonly kind: 'read' }
  /** A commit of this process was acknowledged. */
  | { readonly kind: 'commit'; readonly changes: readonly Pick<Change, 'queuedMs' | 'position'>[] }
  /** One was refused, or its fate is unknown. */
  | { readonly kind: 'failure'; readonly isRefused: boolean; readonly tookMs: number }
  /** This process waits for others, which committed this last. */
  | { readonly kind: 'yield'; readonly after: Id64 }
  /** This process asked others to leave it alone, by this commit. */
  | { readonly kind: 'freeze'; readonly by: Id64 }
  /** This process split it into these nodes, itself among them unless it is a root. */
  | { readonly kind: 'split'; readonly nodes: readonly EntityId[] }
  /** A split for contention failed. */
  | { readonly kind: 'lost split' };

export function note(contention: Contention, id: EntityId, sighting: Sighting, nowMs: number): void {
  const seen = seenOf(contention, id, nowMs);
  switch (sighting.kind) {
    case 'look':
      look(contention, seen, sighting, nowMs);
      break;
    case 'read':
      seen.requestsSinceCommit += 1;
      break;
    case 'commit':
      commit(contention, seen, sighting, nowMs);
      break;
    case 'failure':
      seen.requestsSinceCommit += 1;
      seen.aloneLeft = WARY_COMMITS;
      seen.yieldsInARow = 0;
      if (!sighting.isRefused) break;
      seen.yieldsLeft = WARY_COMMITS;
      seen.refusalsInARow += 1;
      seen.isRefused = true;
      seen.lineMs = isInLine(contention.way, sighting.tookMs) ? sighting.tookMs : 0;
      break;
    case 'yield':
      seen.yieldsInARow += 1;
      seen.isRefused = false;
      if (seen.yieldsAfter !== sighting.after) [seen.yieldsAfter, seen.yieldsSinceMs] = [sighting.after, nowMs];
      break;
    case 'freeze':
      [seen.yieldsAfter, seen.yieldsSinceMs] = [sighting.by, -Infinity];
      break;
    case 'split':
      for (const node of sighting.nodes) forget(seenOf(contention, node, nowMs), nowMs);
      break;
    case 'lost split':
      forget(seen, nowMs);
      break;
    default:
      sighting satisfies never;
  }
}

function look(
  contention: Contention,
  seen: Seen,
  { foreignCommits, ms, wasSplit }: Extract<Sighting, { kind: 'look' }>,
  nowMs: number,
): void {
  if (foreignCommits > 0) seen.yieldsLeft = WARY_COMMITS;
  if (wasSplit) return forget(seen, nowMs);
  // A reply that is older than the one before says nothing of rates.
  if (!(ms > 0)) return;
  contention.foreign = added(contention.foreign, foreignCommits, ms, TABLE_HORIZON_MS);
  seen.foreign = added(seen.foreign, foreignCommits, ms, HORIZON_MS);
  seen.hasCommitted = false;
  seen.looksDue = foreignCommits > 0 ? WARY_COMMITS : Math.max(0, seen.looksDue - 1);
}

function commit(
  contention: Contention,
  seen: Seen,
  { changes }: Extract<Sighting, { kind: 'commit' }>,
  nowMs: number,
): void {
  const roundTripMs = Math.max(ROUND_TRIP_LEAST_MS, freeCommitMs(contention.way));
  const cost: Costs = {
    requests: seen.requestsSinceCommit + 1,
    roundTrips: changes.reduce(
      (sum, { queuedMs }) => sum + Math.min(ROUND_TRIPS_MOST, (nowMs - queuedMs) / roundTripMs),
      0,
    ),
    changes: changes.length,
    commits: 1,
  };
  if (seen.costs.commits < COMMITS_ENOUGH) contention.seldom = sum(contention.seldom, KEPT, cost);
  seen.costs = sum(seen.costs, KEPT, cost);
  const position = changes[changes.length >> 1]?.position;
  // A process that meets no others splits nothing.
  if (position !== undefined && seen.yieldsLeft > 0)
    seen.positions = [position, ...seen.positions.slice(0, POSITIONS_KEPT - 1)];
  seen.own = added(seen.own, 1, Math.max(0, nowMs - seen.lastCommitMs), HORIZON_MS);
  seen.lastCommitMs = nowMs;
  seen.requestsSinceCommit = 0;
  seen.hasCommitted = true;
  seen.aloneLeft = Math.max(0, seen.aloneLeft - 1);
  seen.yieldsLeft = Math.max(0, seen.yieldsLeft - 1);
  seen.yieldsInARow = 0;
  seen.refusalsInARow = 0;
  seen.isRefused = false;
}

/** What to do with the changes of one container next. */
export interface Advice {
  /** A commit would probably be refused, or others starve. */
  readonly readFirst: boolean;
  /** How long to leave the container to others, before it is looked at again; 0: not at all. */
  readonly yieldMs: number;
  /** Nodes to split it among; 0: it may stay as it is. */
  readonly splitInto: number;
  /** How long others are asked to leave it alone, if it is split. */
  readonly freezeMs: number;
  /** Whether its commits go alone: in a batch a refusal proves nothing (rule 1). */
  readonly isAlone: boolean;
}

/** When advice is asked for, and shares between 0 and 1. */
interface Moment {
  readonly nowMs: number;
  readonly draw: () => number;
}

export function advise(contention: Contention, snapshot: Snapshot, nowMs: number, draw: () => number): Advice {
  const seen = seenOf(contention, snapshot.id, nowMs);
  const { roundTripMs } = contention.way.commits;
  return {
    readFirst: isLookDue(contention, seen, snapshot, nowMs) || isProbablyStale(contention, snapshot, nowMs),
    yieldMs: yieldMs(contention, seen, snapshot, { nowMs, draw }) * (1 + YIELD_SPREAD * draw()),
    splitInto: splitInto(contention, seen, snapshot),
    freezeMs: Math.min(
      YIELD_MOST_MS,
      Math.ceil(FREEZE_ROUND_TRIPS * roundTripMs + pageBytesOf(snapshot.header) / SPLIT_BYTES_A_MS),
    ),
    isAlone: seen.aloneLeft > 0,
  };
}

/** Whether others have probably committed since the snapshot was seen. */
export function isProbablyStale(contention: Contention, { id, seen }: Snapshot, nowMs: number): boolean {
  const foreign = seenOf(contention, id, nowMs);
  return foreignPerMs(contention, foreign) * (nowMs - seen.monotonicMs) > STALE_MAX;
}

/** Commits in a row leave no chance to others, which read first. */
function isLookDue(
  contention: Contention,
  { hasCommitted, looksDue }: Seen,
  snapshot: Snapshot,
  nowMs: number,
): boolean {
  const inARowMs = IN_A_ROW_ROUND_TRIPS * contention.way.commits.roundTripMs;
  return hasCommitted && looksDue > 0 && nowMs - snapshot.seen.monotonicMs <= inARowMs;
}

function yieldMs(
  contention: Contention,
  seen: Seen,
  { header, lastCommit }: Snapshot,
  { nowMs, draw }: Moment,
): number {
  if (seen.yieldsInARow >= YIELDS_MOST) return 0;
  const isYielding = seen.yieldsAfter === lastCommit;
  if (header.freezeMs > 0) {
    const sinceMs = isYielding ? seen.yieldsSinceMs : nowMs;
    const leftMs = sinceMs + Math.min(YIELD_MOST_MS, header.freezeMs) - nowMs;
    return Math.max(0, Math.min(leftMs, header.freezeMs / LOOKS_A_FREEZE));
  }
  if (isYielding || seen.yieldsLeft === 0) return 0;
  return Math.min(YIELD_MOST_MS, yieldToWritersMs(contention, seen, header, draw));
}

function isInLine(way: Way, tookMs: number): boolean {
  return way.commitsWait && tookMs > IN_LINE_ROUND_TRIPS * freeCommitMs(way);
}

/** As long as the writers that wrote less recently need, about. */
function yieldToWritersMs({ tag, way }: Contention, seen: Seen, header: Header, draw: () => number): number {
  const { roundTripMs } = way.commits;
  if (seen.isRefused && seen.lineMs > 0) return LINES_YIELDED * seen.lineMs * draw();
  const commitsPerMs = perMs(seen.foreign) + perMs(seen.own);
  if (commitsPerMs * roundTripMs < (way.commitsWait ? CROWD_TO_YIELD : CROWD_TO_YIELD_AT_ONCE)) return 0;
  const ahead = writersAhead(header, tag);
  // Writers that do not know of each other thin out.
  if (ahead === undefined) {
    const isThinned = seen.isRefused && seen.refusalsInARow >= REFUSALS;
    return isThinned ? roundTripMs * 2 ** Math.min(REFUSAL_DOUBLINGS_MOST, seen.refusalsInARow) * draw() : 0;
  }
  return (Math.max(0, ahead + 1 - WRITERS_AT_ONCE) * YIELD_SHARE) / commitsPerMs;
}

function splitInto(contention: Contention, seen: Seen, { header }: Snapshot): number {
  const { records } = sumsOf(header.pages);
  // Branches are hints, written to seldom: they split by size alone.
  if (header.level > 0 || records < 2) return 0;
  if (seen.costs.commits < COMMITS_LEAST || productOf(seen.costs) < PRODUCT_MAX) return 0;
  const lacking = Math.max(0, COMMITS_ENOUGH - seen.costs.commits);
  const share = Math.min(1, lacking / Math.max(1, contention.seldom.commits));
  const like = sum(contention.seldom, share, seen.costs);
  const product = productOf(like);
  if (product < PRODUCT_MAX * (1 + DOUBT / Math.sqrt(like.commits))) return 0;
  const nodes = Math.min(NODES_MAX, Math.max(2, Math.ceil(product / PRODUCT_MAX)));
  return Math.min(records, partsOf(seen.positions, layersOf(header)[0]!, nodes));
}

/** So many of the nodes as changes would go to: one record, or one end, cannot be shared out. */
function partsOf(positions: readonly Position[], base: readonly PageRef[], nodes: number): number {
  const sorted = positions.toSorted(compareBytes);
  const distinct = sorted.filter((position, at) => at === 0 || compareBytes(position, sorted[at - 1]!) > 0);
  if (distinct.length < 2) return 0;
  const rowOf = (position: Position): number => base.findLastIndex(({ low }) => compareBytes(low, position) <= 0);
  const isOneEnd = rowOf(distinct.at(-1)!) - rowOf(distinct[0]!) < Math.floor(base.length / nodes);
  return isOneEnd ? 0 : Math.min(nodes, distinct.length);
}

function productOf({ requests, roundTrips, changes }: Costs): number {
  return (requests * roundTrips) / (changes * changes);
}

/** So much of the first costs, and the others. */
function sum(costs: Costs, share: number, more: Costs): Costs {
  return {
    requests: costs.requests * share + more.requests,
    roundTrips: costs.roundTrips * share + more.roundTrips,
    changes: costs.changes * share + more.changes,
    commits: costs.commits * share + more.commits,
  };
}

function added({ count, watchedMs }: Rate, more: number, ms: number, horizonMs: number): Rate {
  const kept = horizonMs / (horizonMs + ms);
  return { count: count * kept + more, watchedMs: watchedMs * kept + ms };
}

/** Time that lacks to `PRIOR_MS` is filled up with `usual`. */
function perMs({ count, watchedMs }: Rate, usual = 0): number {
  return (count + usual * PRIOR_MS) / (watchedMs + PRIOR_MS);
}

function foreignPerMs(contention: Contention, seen: Seen): number {
  return perMs(seen.foreign, perMs(contention.foreign));
}

/** The time of a commit that nothing holds up. Reads tell it if all commits stood in line. */
function freeCommitMs({ reads, commits }: Way): number {
  return Math.min(commits.meanRoundTripMs, COMMIT_READS * reads.roundTripMs);
}

function seenOf({ containers }: Contention, id: EntityId, nowMs: number): Seen {
  const seen = containers.get(id) ?? newSeen(nowMs);
  containers.delete(id);
  containers.set(id, seen);
  if (containers.size > CONTAINERS_MAX) containers.delete(containers.keys().next().value!);
  return seen;
}

function newSeen(nowMs: number): Seen {
  return {
    ...nothingSeen(nowMs),
    requestsSinceCommit: 0,
    yieldsLeft: 0,
    aloneLeft: 0,
    refusalsInARow: 0,
    isRefused: false,
    yieldsAfter: undefined,
    yieldsSinceMs: 0,
    yieldsInARow: 0,
  };
}

/** What a split makes of no account: what was seen of the container says little of what is left. */
function nothingSeen(nowMs: number) {
  return {
    foreign: NEVER,
    own: NEVER,
    lastCommitMs: nowMs,
    costs: NOTHING,
    positions: [],
    hasCommitted: false,
    looksDue: 0,
    lineMs: 0,
  };
}

function forget(seen: Seen, nowMs: number): void {
  Object.assign(seen, nothingSeen(nowMs));
}
