// How often the containers of one table are written to, by this process and by others, as far as it can tell. A header counts its commits, so
// two looks at it tell how many were foreign in between; nothing else passes between processes. Estimates only: a wrong one costs a request, a
// conflict or a split, never a record.
import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';

/** Containers remembered. */
const CONTAINERS_MAX = 10_000;
/** A rate is an average over about so long: long against the time between two writes of one caller, short against a rush. */
const HORIZON_MS = 5_000;
/** The same for the average of all containers, in time of containers: what was seen of four of them for a second counts as 4 s. */
const TABLE_HORIZON_MS = 20_000;
/** What was seen for less is no evidence that a container should be split. */
const EVIDENCE_MS = 1_000;
/** A commit on what memory holds is worth trying while it is refused less often than this: a refusal costs two requests more, a read first one. */
const STALE_SHARE_MAX = 0.15;
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

/** Commits and calls, each counting less the longer ago it was. */
interface Traffic {
  foreignCommits: number;
  ownCalls: number;
  commitsSinceLook: number;
  /** Looks still to be taken because one met a commit of others. */
  looksDue: number;
  /** Others got ahead of a split, and what it had inserted is garbage. */
  hasLostSplit: boolean;
  /** When the container was heard of first, and when the counts were brought up to date. */
  readonly sinceMs: number;
  countedMs: number;
}

export class Contention {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'busyShare'>;
  readonly #containers = new LRUCache<EntityId, Traffic>({ max: CONTAINERS_MAX });
  /** Foreign commits seen in all containers, and for how long these were known. */
  readonly #all = { foreignCommits: 0, knownMs: 0 };
  #roundTripMs = 0;

  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'busyShare'>) {
    this.#runtime = runtime;
  }

  /** A read showed the container after so many foreign commits since a look that is `ms` older. */
  noteLook(id: EntityId, foreignCommits: number, ms: number): void {
    if (!(ms > 0)) return;
    const kept = Math.exp(-ms / TABLE_HORIZON_MS);
    this.#all.foreignCommits = this.#all.foreignCommits * kept + foreignCommits;
    this.#all.knownMs = this.#all.knownMs * kept + ms;
    const traffic = this.#trafficOf(id);
    traffic.foreignCommits += foreignCommits * Math.min(1, HORIZON_MS / ms);
    traffic.commitsSinceLook = 0;
    traffic.looksDue = foreignCommits > 0 ? LOOKS_AFTER_FOREIGN : Math.max(0, traffic.looksDue - 1);
  }

  /** This process wants to write one record of the container. Batches do not count: smaller containers would not make them faster. */
  noteCall(id: EntityId): void {
    this.#trafficOf(id).ownCalls += 1;
  }

  /** A commit of this process was acknowledged. */
  noteCommit(id: EntityId): void {
    this.#trafficOf(id).commitsSinceLook += 1;
  }

  /** A split of the container was refused, or its fate is unknown. From then on it is tried with one new node, until one succeeds: a loss leaves little. */
  noteLostSplit(id: EntityId): void {
    this.#trafficOf(id).hasLostSplit = true;
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
    const { commitsSinceLook, looksDue } = this.#trafficOf(id);
    const ageMs = this.#runtime.monotonicMs() - seen.monotonicMs;
    const isItsTurn = commitsSinceLook > 0 && (looksDue > 0 || commitsSinceLook >= COMMITS_BEFORE_LOOK);
    if (isItsTurn && ageMs <= IN_A_ROW_ROUND_TRIPS * this.#roundTripMs) return true;
    return 1 - Math.exp(-this.#foreignPerMs(id) * ageMs) > STALE_SHARE_MAX;
  }

  /** How many containers this one should be, for its traffic; 0: it may stay as it is. */
  partsFor(id: EntityId): number {
    const { foreignCommits, hasLostSplit, ownCalls, sinceMs } = this.#trafficOf(id);
    const knownMs = Math.min(HORIZON_MS, Math.max(EVIDENCE_MS, this.#runtime.monotonicMs() - sinceMs));
    const calls = this.#runtime.busyShare() > BUSY_SHARE ? 0 : ownCalls;
    const crowd = ((foreignCommits + calls) / knownMs) * this.#roundTripMs;
    const partsMax = hasLostSplit ? 2 : PARTS_MAX;
    return crowd > CROWD_MAX ? Math.min(partsMax, Math.ceil((2 * crowd) / CROWD_MAX)) : 0;
  }

  /** The container was split into these, itself among them: each is expected to have an equal share of its traffic. */
  handOn(id: EntityId, parts: readonly EntityId[]): void {
    const { foreignCommits, ownCalls, sinceMs } = this.#trafficOf(id);
    const share = { foreignCommits: foreignCommits / parts.length, ownCalls: ownCalls / parts.length };
    for (const part of parts) this.#containers.set(part, { ...this.#newTraffic(), ...share, sinceMs });
  }

  /** For as long as a container is not known, it is taken for one like the others. */
  #foreignPerMs(id: EntityId): number {
    const { foreignCommits, sinceMs } = this.#trafficOf(id);
    const unknownMs = Math.max(0, HORIZON_MS - (this.#runtime.monotonicMs() - sinceMs));
    const usual = this.#all.knownMs === 0 ? 0 : this.#all.foreignCommits / this.#all.knownMs;
    return (foreignCommits + usual * unknownMs) / HORIZON_MS;
  }

  #trafficOf(id: EntityId): Traffic {
    const nowMs = this.#runtime.monotonicMs();
    let traffic = this.#containers.get(id);
    if (traffic === undefined) {
      traffic = this.#newTraffic();
      this.#containers.set(id, traffic);
    }
    const kept = Math.exp((traffic.countedMs - nowMs) / HORIZON_MS);
    traffic.foreignCommits *= kept;
    traffic.ownCalls *= kept;
    traffic.countedMs = nowMs;
    return traffic;
  }

  #newTraffic(): Traffic {
    const nowMs = this.#runtime.monotonicMs();
    return {
      foreignCommits: 0,
      ownCalls: 0,
      commitsSinceLook: 0,
      looksDue: 0,
      hasLostSplit: false,
      sinceMs: nowMs,
      countedMs: nowMs,
    };
  }
}
