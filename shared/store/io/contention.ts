// How often the containers of one table are written to, by this process and by others, as far as it can tell. A header counts its commits, so
// two looks at it tell how many were foreign in between; nothing else passes between processes. Estimates only: a wrong one costs a request, a
// conflict or a split, never a record.
import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../container/snapshot.ts';
import { turnsBefore } from '../container/turn-order.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer, type Id64 } from '../format/bytes.ts';

/** Containers remembered. */
const CONTAINERS_MAX = 10_000;
/** A rate is an average over about so much time that was watched: long against the time between two writes, short against a rush. */
const HORIZON_MS = 5_000;
/** The same for the average of all containers, in time of containers: what was seen of four of them for a second counts as 4 s. */
const TABLE_HORIZON_MS = 20_000;
/** Until a container was watched for longer than this, it is taken for one like the others. */
const PRIOR_MS = 1_000;
/** Whatever came within less counts as if it had come within so much. */
const EVIDENCE_MS = 250;
/** A count is evidence of what is left of it without so many of its standard deviations, which is its square root. */
const DEVIATIONS = 1;
/** Foreign commits to be expected since memory saw the container: with fewer a commit on it is worth trying. A refusal costs more than a read first. */
const STALE_MAX = 0.16;
/** After so many commits in a row without a look it is time for one: who reads before each of his commits has no chance meanwhile. */
const COMMITS_BEFORE_LOOK = 32;
/** After a look that met a commit of others so many looks follow, one before each commit: then all who compete have the same way to go. */
const LOOKS_AFTER_FOREIGN = 8;
/** Commits follow one another in a row if there are no more round trips between them than this. */
const IN_A_ROW_ROUND_TRIPS = 2;
/** Writes that meet in one container while one commit is under way: above this it is split, into parts that would have half of it. */
const CROWD_MAX = 0.1;
const PARTS_MAX = 16;
/** A process that works for more than this share of the time gains by sharing commits, not by sending more of them. */
const BUSY_SHARE = 0.7;
/** A round trip counts so much in the average of all before. */
const ROUND_TRIP_WEIGHT = 1 / 16;
/** What took longer was no round trip: the process slept, or the provider was in trouble. */
const ROUND_TRIP_MOST_MS = 500;
/** A split takes a reply, an insert of its new nodes, of which the slowest counts, and the way of its link. */
const HOLD_ROUND_TRIPS = 5;
/** Most splits take less than was asked for: who holds looks so often whether it is over. */
const LOOKS_A_HOLD = 4;
/** Whatever a header asks for, and however many wait, nobody rests longer without another look. */
const REST_MOST_MS = 1_000;
/** After a commit of others a process takes turns with them for so many commits. */
const TURNS_AFTER_FOREIGN = 8;
/** There are turns where so many commits are made while one is under way. */
const CROWD_OF_TURNS = 0.25;
/** After so many commits a process whose turn it is leaves one to those who never had any, and whom nobody knows of. */
const COMMITS_A_GIFT = 8;
const GIFT_ROUND_TRIPS = 2;
/** Who never had a turn waits for a random time, twice as long after each refusal, up to so many round trips. */
const NEWCOMER_ROUND_TRIPS_MOST = 8;
/** A turn is taken for shorter than those before it were: it could never become shorter if all waited for as long. */
const TURN_ROUND_TRIPS_LEAST = 0.4;
const TURN_SHARE = 0.3;

/** What was counted while so much time was watched. Both fade with the time that is watched after them. */
class Rate {
  #count = 0;
  #watchedMs = 0;

  add(count: number, watchedMs: number, horizonMs: number): void {
    const kept = horizonMs / (horizonMs + watchedMs);
    this.#count = this.#count * kept + count;
    this.#watchedMs = this.#watchedMs * kept + watchedMs;
  }

  /** A rate that was watched for less than `PRIOR_MS` is filled up with `usual`. */
  perMs(usual = 0): number {
    return (this.#count + usual * PRIOR_MS) / (this.#watchedMs + PRIOR_MS);
  }

  /** What the rate is at least, unless chance was unusual; `sinceMs`: watched since the last count. */
  leastPerMs(sinceMs = 0): number {
    return (
      Math.max(0, this.#count - DEVIATIONS * Math.sqrt(this.#count)) / Math.max(EVIDENCE_MS, this.#watchedMs + sinceMs)
    );
  }

  share(parts: number): Rate {
    const rate = new Rate();
    rate.#count = this.#count / parts;
    rate.#watchedMs = this.#watchedMs;
    return rate;
  }
}

interface Traffic {
  /** Commits of other processes. */
  readonly foreign: Rate;
  /** Calls, and acknowledged commits, of this process. */
  readonly own: Rate;
  lastCallMs: number;
  readonly commits: Rate;
  lastCommitMs: number;
  commitsSinceLook: number;
  /** Looks still to be taken because one met a commit of others. */
  looksDue: number;
  /** Commits that still take turns with those of others. */
  turnsDue: number;
  refusalsInARow: number;
  refusalsRested: number;
  /** The commit after which this process rests, and until when. */
  restsAfter: Id64 | undefined;
  restUntilMs: number;
}

export class Contention {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'busyShare' | 'random'>;
  readonly #containers = new LRUCache<EntityId, Traffic>({ max: CONTAINERS_MAX });
  /** Commits of other processes in all containers. */
  readonly #all = new Rate();
  readonly #tag: string;
  #roundTripMs = 0;

  /** `tag`: this process's, see `turnsBefore`. */
  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'busyShare' | 'random'>, tag: string) {
    this.#runtime = runtime;
    this.#tag = tag;
  }

  /** A read showed the container after so many foreign commits since a look that is `ms` older. */
  noteLook(id: EntityId, foreignCommits: number, ms: number): void {
    if (!(ms > 0)) return;
    this.#all.add(foreignCommits, ms, TABLE_HORIZON_MS);
    const traffic = this.#trafficOf(id);
    traffic.foreign.add(foreignCommits, ms, HORIZON_MS);
    traffic.commitsSinceLook = 0;
    traffic.looksDue = foreignCommits > 0 ? LOOKS_AFTER_FOREIGN : Math.max(0, traffic.looksDue - 1);
    if (foreignCommits > 0) traffic.turnsDue = TURNS_AFTER_FOREIGN;
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
    traffic.turnsDue = Math.max(0, traffic.turnsDue - 1);
    traffic.refusalsInARow = 0;
  }

  /** A split of the container failed: it takes as much evidence again before the next is tried. */
  noteLostSplit(id: EntityId): void {
    this.#containers.set(id, this.#newTraffic());
  }

  /** A commit was answered after so long. */
  noteRoundTrip(ms: number): void {
    const took = Math.min(ms, ROUND_TRIP_MOST_MS);
    this.#roundTripMs += (took - this.#roundTripMs) * (this.#roundTripMs === 0 ? 1 : ROUND_TRIP_WEIGHT);
  }

  /**
   * Whether the container should be read before a commit on this snapshot: that commit would probably be refused; or others would, again and
   * again, as this process commits in a row and they have to read before.
   */
  isLookDue({ id, seen }: Snapshot): boolean {
    const { commitsSinceLook, looksDue, foreign } = this.#trafficOf(id);
    const ageMs = this.#runtime.monotonicMs() - seen.monotonicMs;
    const isInARow = commitsSinceLook > 0 && (looksDue > 0 || commitsSinceLook >= COMMITS_BEFORE_LOOK);
    if (isInARow && ageMs <= IN_A_ROW_ROUND_TRIPS * this.#roundTripMs) return true;
    return foreign.perMs(this.#all.perMs()) * ageMs > STALE_MAX;
  }

  /** How many containers this one should be, for its traffic; 0: it may stay as it is. */
  partsFor(id: EntityId): number {
    const { foreign, own, lastCallMs } = this.#trafficOf(id);
    const isBusy = this.#runtime.busyShare() > BUSY_SHARE;
    const ownPerMs = isBusy ? 0 : own.leastPerMs(this.#runtime.monotonicMs() - lastCallMs);
    const crowd = (foreign.leastPerMs() + ownPerMs) * this.#roundTripMs;
    return crowd > CROWD_MAX ? Math.min(PARTS_MAX, Math.ceil((2 * crowd) / CROWD_MAX)) : 0;
  }

  /** The container was split into these, itself among them: each is expected to have an equal share of its traffic. */
  handOn(id: EntityId, parts: readonly EntityId[]): void {
    const { foreign, own, lastCallMs } = this.#trafficOf(id);
    const share = (): Traffic => ({
      ...this.#newTraffic(),
      foreign: foreign.share(parts.length),
      own: own.share(parts.length),
      lastCallMs,
    });
    for (const part of parts) this.#containers.set(part, share());
  }

  /** How long others are asked to leave alone a container that this process is about to split. */
  get holdMs(): number {
    return Math.min(REST_MOST_MS, Math.ceil(HOLD_ROUND_TRIPS * this.#roundTripMs));
  }

  /** It was this process that asked, by the commit `attempt`. */
  noteOwnHold(id: EntityId, attempt: Id64): void {
    const traffic = this.#trafficOf(id);
    traffic.restsAfter = attempt;
    traffic.restUntilMs = 0;
  }

  /** A commit of this process was refused, as another had come before: from now on it takes its turn. */
  noteRefusal(id: EntityId): void {
    const traffic = this.#trafficOf(id);
    traffic.turnsDue = TURNS_AFTER_FOREIGN;
    traffic.refusalsInARow += 1;
  }

  /**
   * How long to leave the container alone before it is looked at again: its last commit asks for it, or other processes have waited for it longer
   * (`turnsBefore`). 0: it may be written. A courtesy, of at most a second for each commit of others: conditions keep the data safe.
   */
  restMs(snapshot: Snapshot): number {
    const traffic = this.#trafficOf(snapshot.id);
    const { header, lastCommit } = snapshot;
    if (traffic.turnsDue === 0 && header.holdForMs === 0) return 0;
    const nowMs = this.#runtime.monotonicMs();
    if (traffic.restsAfter !== lastCommit) {
      traffic.restsAfter = lastCommit;
      const restMs = header.holdForMs || this.#turnMs(snapshot, traffic);
      traffic.restUntilMs = restMs === 0 ? 0 : nowMs + Math.min(REST_MOST_MS, restMs);
    }
    const leftMs = Math.max(0, traffic.restUntilMs - nowMs);
    // Nobody came: those who wrote it have left.
    if (leftMs === 0 && traffic.restUntilMs > 0) traffic.turnsDue = 0;
    return header.holdForMs > 0 ? Math.min(leftMs, header.holdForMs / LOOKS_A_HOLD) : leftMs;
  }

  /** Where others hardly ever write there are no turns, whoever they were. */
  #turnMs({ header }: Snapshot, traffic: Traffic): number {
    const { foreign, commits } = traffic;
    const perMs = foreign.perMs() + commits.perMs();
    const roundTripMs = this.#roundTripMs;
    if (perMs * roundTripMs < CROWD_OF_TURNS) return 0;
    const turns = turnsBefore(header, this.#tag);
    if (turns === undefined) return this.#newcomerMs(traffic);
    if (turns === 0 && traffic.refusalsInARow === 0 && header.commitCount % COMMITS_A_GIFT === 0)
      return GIFT_ROUND_TRIPS * roundTripMs;
    return turns * Math.max(TURN_ROUND_TRIPS_LEAST * roundTripMs, TURN_SHARE / perMs);
  }

  /** Nobody knows of those who never had a turn, nor do they of each other: they thin out, once after each refusal, until one gets through. */
  #newcomerMs(traffic: Traffic): number {
    const { refusalsInARow, refusalsRested } = traffic;
    if (refusalsInARow < 2 || refusalsInARow === refusalsRested) return 0;
    traffic.refusalsRested = refusalsInARow;
    return this.#chance() * this.#roundTripMs * Math.min(NEWCOMER_ROUND_TRIPS_MOST, 2 ** refusalsInARow);
  }

  #chance(): number {
    return asBuffer(this.#runtime.random(1)).readUInt8() / 0xff;
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
      commitsSinceLook: 0,
      looksDue: 0,
      turnsDue: 0,
      refusalsInARow: 0,
      refusalsRested: 0,
      restsAfter: undefined,
      restUntilMs: 0,
    };
  }
}
