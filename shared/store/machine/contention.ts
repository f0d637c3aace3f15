// What a process does about others that write the same containers: it reads before it commits,
// yields to those that waited longer, splits a leaf that is dear to share, and asks others to leave
// it alone meanwhile. `note` keeps what was seen as plain data; `advise` says what follows from it.
// Wrong advice costs requests or time, never a record, because no rule rests on it.
import type { Change } from '../container/change.ts';
import { pageBytesOf, type Snapshot } from '../container/snapshot.ts';
import { type Header, writersAhead } from '../format/header.ts';
import type { EntityId } from '../contract/driver.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import {
  COMMIT_READS,
  COMMITS_ENOUGH,
  COMMITS_LEAST,
  CONTAINERS_MAX,
  CROWD_TO_YIELD,
  CROWD_TO_YIELD_AT_ONCE,
  DOUBT,
  FREEZE_ROUND_TRIPS,
  HORIZON_MS,
  IN_A_ROW_ROUND_TRIPS,
  IN_LINE_ROUND_TRIPS,
  KEPT,
  LOOKS_A_FREEZE,
  NODES_MAX,
  POSITIONS_KEPT,
  PRIOR_MS,
  PRODUCT_MAX,
  REFUSAL_DOUBLINGS_MOST,
  REFUSALS,
  ROUND_TRIP_LEAST_MS,
  ROUND_TRIPS_MOST,
  SPLIT_BYTES_A_MS,
  STALE_MAX,
  TABLE_HORIZON_MS,
  WARY_COMMITS,
  WRITERS_AT_ONCE,
  YIELD_MOST_MS,
  YIELD_ROUND_TRIPS_LEAST,
  YIELD_SHARE,
  YIELDS_MOST,
} from './contention-numbers.ts';
import { layersOf } from '../container/layers.ts';
import { sumsOf } from '../container/container-size.ts';
import type { PageRef } from '../format/page-table.ts';

/** The provider's pace: round trips, and whether commits of one entity wait for each other. */
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

const NEVER: Rate = { count: 0, watchedMs: 0 };

/** One container, as this process saw it. */
class Seen {
  /** Commits of other processes, and of this one. */
  foreign = NEVER;
  own = NEVER;
  lastCommitMs: number;
  costs = NOTHING;
  requestsSinceCommit = 0;
  positions: readonly Position[] = [];
  /** Since the last look. */
  hasCommitted = false;
  /** Looks still to be taken because one met a commit of others. */
  looksDue = 0;
  /** How many more own commits may be preceded by a yield. */
  yieldsLeft = 0;
  /** How many more own commits go in a request of their own. */
  aloneLeft = 0;
  refusalsInARow = 0;
  /** It was refused, and has not yielded since. */
  isRefused = false;
  /** How long the refused commit stood in line; 0: it did not. */
  lineMs = 0;
  /** The container's last commit when the last yield began, and when that was. */
  yieldsAfter: Id64 | undefined;
  yieldsSinceMs = 0;
  yieldsInARow = 0;

  constructor(nowMs: number) {
    this.lastCommitMs = nowMs;
  }
}

/** One table, as this process saw it. */
export interface Contention {
  /** The first digits of this process's commit ids. */
  readonly tag: string;
  readonly way: Way;
  /** The last ones looked at come last. */
  readonly containers: Map<EntityId, Seen>;
  /** Commits of others in all containers: what is usual. */
  foreign: Rate;
  /** What changes cost in leaves that this process commits to seldom. */
  costsWhereSeldom: Costs;
}

export function newContention(tag: string, way: Way): Contention {
  return { tag, way, containers: new Map(), foreign: NEVER, costsWhereSeldom: NOTHING };
}

/** What was seen of a container, or done to it. */
export type Sighting =
  /** A reply showed this many commits of others since another reply, `ms` before. */
  | { readonly kind: 'look'; readonly foreignCommits: number; readonly ms: number; readonly wasSplit: boolean }
  /** A read was answered that was sent for the container's changes. */
  | { readonly kind: 'read' }
  /** A commit of this process was acknowledged. */
  | { readonly kind: 'commit'; readonly changes: readonly Pick<Change, 'queuedMs' | 'position'>[] }
  /** A commit of this process was refused, or its outcome is unknown. */
  | { readonly kind: 'failure'; readonly isRefused: boolean; readonly tookMs: number }
  /** This process waits for others, which committed this last. */
  | { readonly kind: 'yield'; readonly after: Id64 }
  /** This process asked others to leave it alone, by this commit. */
  | { readonly kind: 'freeze'; readonly by: Id64 }
  /** This process split the container into these nodes; it is one of them unless it is a root. */
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
    case 'failure': {
      seen.requestsSinceCommit += 1;
      seen.aloneLeft = WARY_COMMITS;
      seen.yieldsInARow = 0;
      if (!sighting.isRefused) break;
      seen.yieldsLeft = WARY_COMMITS;
      seen.refusalsInARow += 1;
      seen.isRefused = true;
      const { way } = contention;
      const isInLine = way.commitsWait && sighting.tookMs > IN_LINE_ROUND_TRIPS * freeCommitMs(way);
      seen.lineMs = isInLine ? sighting.tookMs : 0;
      break;
    }
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
  const cost = costOf(changes, seen.requestsSinceCommit + 1, freeCommitMs(contention.way), nowMs);
  if (seen.costs.commits < COMMITS_ENOUGH) contention.costsWhereSeldom = sum(contention.costsWhereSeldom, KEPT, cost);
  seen.costs = sum(seen.costs, KEPT, cost);
  const position = changes[changes.length >> 1]?.position;
  // Positions are kept only while others write here, too; without two of them nothing is split.
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
  /** Whether its commits go in requests of their own, where a refusal is certain (rule 1). */
  readonly isAlone: boolean;
}

/** When advice is asked for, and what draws shares from 0 to 1. */
interface Asked {
  readonly nowMs: number;
  readonly draw: () => number;
}

export function advise(contention: Contention, snapshot: Snapshot, nowMs: number, draw: () => number): Advice {
  const seen = seenOf(contention, snapshot.id, nowMs);
  const { roundTripMs } = contention.way.commits;
  // Commits that follow closely shut out others, who have to read first.
  const isInARow = seen.hasCommitted && nowMs - snapshot.seen.monotonicMs <= IN_A_ROW_ROUND_TRIPS * roundTripMs;
  return {
    readFirst: (isInARow && seen.looksDue > 0) || isProbablyStale(contention, snapshot, nowMs),
    yieldMs: yieldMs(contention, seen, snapshot, { nowMs, draw }),
    splitInto: splitInto(snapshot, seen.costs, contention.costsWhereSeldom, seen.positions),
    freezeMs: Math.min(
      YIELD_MOST_MS,
      Math.ceil(FREEZE_ROUND_TRIPS * roundTripMs + pageBytesOf(snapshot.header) / SPLIT_BYTES_A_MS),
    ),
    isAlone: seen.aloneLeft > 0,
  };
}

/** Whether others have probably committed since the snapshot was seen. */
export function isProbablyStale(contention: Contention, { id, seen }: Snapshot, nowMs: number): boolean {
  const foreignPerMs = perMs(seenOf(contention, id, nowMs).foreign, perMs(contention.foreign));
  return foreignPerMs * (nowMs - seen.monotonicMs) > STALE_MAX;
}

function yieldMs(contention: Contention, seen: Seen, { header, lastCommit }: Snapshot, { nowMs, draw }: Asked): number {
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

/** About as long as the writers that have waited longer need. */
function yieldToWritersMs({ tag, way }: Contention, seen: Seen, header: Header, draw: () => number): number {
  const { roundTripMs } = way.commits;
  // Each refusal in a row doubles a random wait, or the crowd that waits would fill the line again.
  const doubled = 2 ** Math.min(REFUSAL_DOUBLINGS_MOST, seen.refusalsInARow) * draw();
  if (seen.isRefused && seen.lineMs > 0) return seen.lineMs * doubled;
  const commitsPerMs = perMs(seen.foreign) + perMs(seen.own);
  if (commitsPerMs * roundTripMs < (way.commitsWait ? CROWD_TO_YIELD : CROWD_TO_YIELD_AT_ONCE)) return 0;
  const ahead = writersAhead(header, tag);
  // The header does not name this process: it cannot know who was before it, and waits at random.
  if (ahead === undefined) return seen.isRefused && seen.refusalsInARow >= REFUSALS ? roundTripMs * doubled : 0;
  return (
    Math.max(0, ahead + 1 - WRITERS_AT_ONCE) *
    Math.max(YIELD_ROUND_TRIPS_LEAST * roundTripMs, YIELD_SHARE / commitsPerMs)
  );
}

function added({ count, watchedMs }: Rate, more: number, ms: number, horizonMs: number): Rate {
  const kept = horizonMs / (horizonMs + ms);
  return { count: count * kept + more, watchedMs: watchedMs * kept + ms };
}

/** Time that lacks to `PRIOR_MS` is filled up with `usual`. */
function perMs({ count, watchedMs }: Rate, usual = 0): number {
  return (count + usual * PRIOR_MS) / (watchedMs + PRIOR_MS);
}

/**
 * The time of a commit that nothing holds up. If all stood in line, a multiple of a read bounds it.
 */
function freeCommitMs({ reads, commits }: Way): number {
  return Math.min(commits.meanRoundTripMs, COMMIT_READS * reads.roundTripMs);
}

function seenOf({ containers }: Contention, id: EntityId, nowMs: number): Seen {
  const seen = containers.get(id) ?? new Seen(nowMs);
  containers.delete(id);
  containers.set(id, seen);
  if (containers.size > CONTAINERS_MAX) containers.delete(containers.keys().next().value!);
  return seen;
}

/** After a split, what was seen before says little about the container that is left. */
function forget(seen: Seen, nowMs: number): void {
  const { foreign, own, lastCommitMs, costs, positions, hasCommitted, looksDue, lineMs } = new Seen(nowMs);
  Object.assign(seen, { foreign, own, lastCommitMs, costs, positions, hasCommitted, looksDue, lineMs });
}

/** What the changes of this process cost: sums over its last commits. */
export interface Costs {
  readonly requests: number;
  readonly roundTrips: number;
  readonly changes: number;
  readonly commits: number;
}

const NOTHING: Costs = { requests: 0, roundTrips: 0, changes: 0, commits: 0 };

/** Those of one commit. A provider in memory may take no time at all. */
function costOf(
  changes: readonly Pick<Change, 'queuedMs'>[],
  requests: number,
  roundTripMs: number,
  nowMs: number,
): Costs {
  const tripMs = Math.max(ROUND_TRIP_LEAST_MS, roundTripMs);
  let roundTrips = 0;
  for (const { queuedMs } of changes) roundTrips += Math.min(ROUND_TRIPS_MOST, (nowMs - queuedMs) / tripMs);
  return { requests, roundTrips, changes: changes.length, commits: 1 };
}

/** Nodes to split a leaf among; 0: it may be shared. `seldom`: the costs of leaves like it. */
function splitInto({ header }: Snapshot, costs: Costs, seldom: Costs, positions: readonly Position[]): number {
  const { records } = sumsOf(header.pages);
  // Branches are hints, written to seldom: they split by size alone.
  if (header.level > 0 || records < 2) return 0;
  if (costs.commits < COMMITS_LEAST || productOf(costs) < PRODUCT_MAX) return 0;
  const lacking = Math.max(0, COMMITS_ENOUGH - costs.commits);
  const share = Math.min(1, lacking / Math.max(1, seldom.commits));
  const like = sum(seldom, share, costs);
  const product = productOf(like);
  if (product < PRODUCT_MAX * (1 + DOUBT / Math.sqrt(like.commits))) return 0;
  const nodes = Math.min(NODES_MAX, Math.max(2, Math.ceil(product / PRODUCT_MAX)));
  return Math.min(records, partsOf(positions, layersOf(header)[0]!, nodes));
}

/** How many nodes would get changes; 0 if all changes are of one record, or at one end. */
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

/** `costs` times `share`, plus `more`. */
function sum(costs: Costs, share: number, more: Costs): Costs {
  return {
    requests: costs.requests * share + more.requests,
    roundTrips: costs.roundTrips * share + more.roundTrips,
    changes: costs.changes * share + more.changes,
    commits: costs.commits * share + more.commits,
  };
}
