// How often the containers of one table are written to, by this process and by others, as far as it can tell. A header counts its commits, so
// two looks at it tell how many were foreign in between; nothing else passes between processes. Estimates only: a wrong one costs a request, a
// conflict or a split, never a record.
import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { AdaptiveLimit } from './adaptive-limit.ts';
import { Rate } from './rate.ts';
import { RoundTrip } from './round-trip.ts';

/** Containers remembered. As a size, for a count would take the memory of all of them at once, for each table that is opened. */
const CONTAINERS_MAX = 10_000;
/** A rate is an average over about so much time that was watched: long against the time between two writes, short against a rush. */
const HORIZON_MS = 5_000;
/** The same for the average of all containers, in time of containers: what was seen of four of them for a second counts as 4 s. */
const TABLE_HORIZON_MS = 20_000;
/** Foreign commits to be expected since memory saw the container: with fewer a commit on it is worth trying. A refusal costs more than a read first. */
const STALE_MAX = 0.16;
/** With more a check is not worth its request: header and pages are asked for at once. */
const STALE_MAX_TO_CHECK = 0.36;
/** After so many commits in a row without a look it is time for one: who reads before each of his commits has no chance meanwhile. */
const COMMITS_BEFORE_LOOK = 32;
/** After a look that met a commit of others so many looks follow, one before each commit: then all who compete have the same way to go. */
const LOOKS_AFTER_FOREIGN = 8;
/** Commits follow one another in a row if there are no more round trips between them than this. */
const IN_A_ROW_ROUND_TRIPS = 2;
/** Writes that meet in one container while one commit is under way: above this it is split, into parts that would have half of it. */
const CROWD_MAX = 0.07;
const PARTS_MAX = 16;
/** A split writes all of these anew while others wait: one of so many bytes must be worth twice as much, and so on. */
const LARGE_BYTES = 192 * 1024;
/** A process that works for more than this share of the time gains by sharing requests, not by sending more of them. */
const BUSY_SHARE = 0.7;
/** Twice as many containers may mean twice the commits: a split for own calls must leave the process within this share of its time. */
const WORK_MAX = 0.9;
/**
 * Where a round trip is shorter, nobody much notices that he waits for one that is under way: checks share requests, and containers are not split for
 * own calls, as each read, check and scan would take as many requests more as there are containers.
 */
const NEAR_MS = 4;
/** A near reply that is not there by then may be lost, however many stand in line: no check waits for it any more. */
const NEAR_WAIT_MS = 100;
/** Own calls are watched so long before they split a container, again after each split: what the last one cost is known then. */
const OWN_EVIDENCE_MS = 2_000;
/** After a split that failed the next waits so long, then twice as long, up to a quarter of an hour. */
const LOST_SPLIT_FIRST_MS = 1_000;
const LOST_SPLIT_DOUBLINGS_MOST = 10;

/** For so many writes that meet; 0: no split. */
function partsOf(crowd: number, pageBytes: number): number {
  const crowdMax = CROWD_MAX * (1 + pageBytes / LARGE_BYTES);
  return crowd > crowdMax ? Math.min(PARTS_MAX, Math.ceil((2 * crowd) / CROWD_MAX)) : 0;
}

interface Traffic {
  /** Commits of other processes. */
  readonly foreign: Rate;
  /** Calls, and acknowledged commits, of this process. */
  readonly own: Rate;
  lastCallMs: number;
  readonly commits: Rate;
  lastCommitMs: number;
  /** Splits in a row that failed, and until when none is tried. */
  lostSplits: number;
  noSplitBeforeMs: number;
  commitsSinceLook: number;
  /** Looks still to be taken because one met a commit of others. */
  looksDue: number;
}

/** How soon requests are answered. */
interface Ways {
  readonly reads: Pick<AdaptiveLimit, 'loneRoundTripMs'>;
  readonly writes: Pick<AdaptiveLimit, 'loneRoundTripMs'>;
}

export class Contention {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'busyShare'>;
  readonly #ways: Ways;
  readonly #containers = new LRUCache<EntityId, Traffic>({ maxSize: CONTAINERS_MAX, sizeCalculation: () => 1 });
  /** Commits of other processes in all containers. */
  readonly #all = new Rate();
  readonly #commits = new RoundTrip();

  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'busyShare'>, ways: Ways) {
    this.#runtime = runtime;
    this.#ways = ways;
  }

  /** What a commit takes where nothing holds it up, about; 0 before the first. */
  get roundTripMs(): number {
    return this.#commits.ms;
  }

  /** Commits of the container a millisecond, by whomever. */
  commitsPerMs(id: EntityId): number {
    const { foreign, commits } = this.#trafficOf(id);
    return foreign.perMs() + commits.perMs();
  }

  /** A read showed the container after so many foreign commits since a look that is `ms` older. */
  noteLook(id: EntityId, foreignCommits: number, ms: number): void {
    if (!(ms > 0)) return;
    this.#all.add(foreignCommits, ms, TABLE_HORIZON_MS);
    const traffic = this.#trafficOf(id);
    traffic.foreign.add(foreignCommits, ms, HORIZON_MS);
    traffic.commitsSinceLook = 0;
    traffic.looksDue = foreignCommits > 0 ? LOOKS_AFTER_FOREIGN : Math.max(0, traffic.looksDue - 1);
  }

  /** Others split the container: what was seen of it says little of what is left. */
  noteShrunk(id: EntityId): void {
    this.#containers.set(id, this.#newTraffic());
  }

  /** This process wants to write one record of the container. Batches do not count: smaller containers would not make them faster. */
  noteCall(id: EntityId): void {
    const traffic = this.#trafficOf(id);
    const nowMs = this.#runtime.monotonicMs();
    traffic.own.add(1, Math.max(0, nowMs - traffic.lastCallMs), HORIZON_MS);
    traffic.lastCallMs = nowMs;
  }

  /** A commit of this process was acknowledged. */
  noteCommit(id: EntityId): void {
    const traffic = this.#trafficOf(id);
    const nowMs = this.#runtime.monotonicMs();
    traffic.commits.add(1, Math.max(0, nowMs - traffic.lastCommitMs), HORIZON_MS);
    traffic.lastCommitMs = nowMs;
    traffic.commitsSinceLook += 1;
  }

  /** A split of the container failed: the next needs as much evidence again, and after each failure in a row twice the time. */
  noteLostSplit(id: EntityId): void {
    const lostSplits = this.#trafficOf(id).lostSplits + 1;
    const restMs = LOST_SPLIT_FIRST_MS * (1 << Math.min(LOST_SPLIT_DOUBLINGS_MOST, lostSplits - 1));
    const noSplitBeforeMs = this.#runtime.monotonicMs() + restMs;
    this.#containers.set(id, { ...this.#newTraffic(), lostSplits, noSplitBeforeMs });
  }

  /** A request with commits was answered so long after it left. */
  noteRoundTrip(ms: number): void {
    this.#commits.note(ms);
  }

  /**
   * Whether the container should be read before a commit on this snapshot: that commit would probably be refused; or others would, again and
   * again, as this process commits in a row and they have to read before.
   */
  isLookDue({ id, seen }: Snapshot): boolean {
    const { commitsSinceLook, looksDue, foreign } = this.#trafficOf(id);
    const ageMs = this.#runtime.monotonicMs() - seen.monotonicMs;
    const foreignPerMs = foreign.perMs(this.#all.perMs());
    // A process that never met another looks for none.
    if (foreignPerMs === 0) return false;
    const isInARow = commitsSinceLook > 0 && (looksDue > 0 || commitsSinceLook >= COMMITS_BEFORE_LOOK);
    if (isInARow && ageMs <= IN_A_ROW_ROUND_TRIPS * this.#commits.ms) return true;
    return foreignPerMs * ageMs > STALE_MAX;
  }

  /** Whether a read should ask for header and pages at once, instead of asking first whether what memory holds is still good. */
  isProbablyStale({ id, seen }: Snapshot): boolean {
    const ageMs = this.#runtime.monotonicMs() - seen.monotonicMs;
    return this.#trafficOf(id).foreign.perMs(this.#all.perMs()) * ageMs > STALE_MAX_TO_CHECK;
  }

  /** How many containers this one, with so many bytes of pages, should be for its traffic; 0: it may stay as it is. */
  partsFor(id: EntityId, pageBytes: number): number {
    const traffic = this.#trafficOf(id);
    if (this.#runtime.monotonicMs() < traffic.noSplitBeforeMs) return 0;
    const foreignParts = partsOf(traffic.foreign.leastPerMs() * this.#commits.ms, pageBytes);
    return Math.max(foreignParts, this.#ownPartsFor(traffic, pageBytes));
  }

  #ownPartsFor({ own, lastCallMs }: Traffic, pageBytes: number): number {
    if (own.watchedMs < OWN_EVIDENCE_MS || this.#ways.writes.loneRoundTripMs < NEAR_MS) return 0;
    const perMs = own.leastPerMs(this.#runtime.monotonicMs() - lastCallMs);
    const affordable = Math.floor(WORK_MAX / this.#runtime.busyShare());
    const parts = Math.min(partsOf(perMs * this.#commits.ms, pageBytes), affordable);
    return parts < 2 ? 0 : parts;
  }

  /**
   * Whether checks of a container should wait for one that was sent at `sentMs`, and share the next request: where its reply is to come soon, and where
   * this process has so much to do that requests cost more than waiting.
   */
  sharesChecks(sentMs: number): boolean {
    const isDueSoon = this.#ways.reads.loneRoundTripMs < NEAR_MS && this.#runtime.monotonicMs() - sentMs < NEAR_WAIT_MS;
    return isDueSoon || this.#runtime.busyShare() > BUSY_SHARE;
  }

  /** The container was split into these, itself among them: each is expected to have an equal share of others' commits. */
  handOn(id: EntityId, parts: readonly EntityId[]): void {
    const { foreign } = this.#trafficOf(id);
    const share = (): Traffic => ({
      ...this.#newTraffic(),
      foreign: foreign.share(parts.length),
    });
    for (const part of parts) this.#containers.set(part, share());
  }

  #trafficOf(id: EntityId): Traffic {
    let traffic = this.#containers.get(id);
    if (traffic === undefined) {
      traffic = this.#newTraffic();
      this.#containers.set(id, traffic);
    }
    return traffic;
  }

  #newTraffic(): Traffic {
    const [foreign, own, commits] = [new Rate(), new Rate(), new Rate()];
    const nowMs = this.#runtime.monotonicMs();
    return {
      foreign,
      own,
      commits,
      lastCallMs: nowMs,
      lastCommitMs: nowMs,
      lostSplits: 0,
      noSplitBeforeMs: 0,
      commitsSinceLook: 0,
      looksDue: 0,
    };
  }
}
