// What processes that write the same container do for each other: they leave it alone while one of them splits it, and take turns where many want
// it. A commit's header says all there is to know. Nobody relies on it: a process that does as it likes costs throughput, never a record.
import { LRUCache } from 'lru-cache';
import type { Snapshot } from '../container/snapshot.ts';
import { turnsBefore } from '../container/turn-order.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';
import { asBuffer, type Id64 } from '../format/bytes.ts';
import type { Contention } from './contention.ts';

/** Containers remembered, as in contention.ts. */
const CONTAINERS_MAX = 10_000;
/** A split takes a reply, an insert of its new nodes, of which the slowest counts, and the way of its link. */
const HOLD_ROUND_TRIPS = 5;
/** Its pages may have to be read, and most of them are written anew. */
const SPLIT_BYTES_A_MS = 2_048;
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
/** Who never had a turn waits for a random time, which doubles from a round trip on with each refusal, so many times. */
const NEWCOMER_DOUBLINGS_MOST = 3;
/** A turn is taken for shorter than those before it were: it could never become shorter if all waited for as long. */
const TURN_ROUND_TRIPS_LEAST = 0.4;
const TURN_SHARE = 0.3;

interface Manners {
  /** Commits that still take turns with those of others. */
  turnsDue: number;
  refusalsInARow: number;
  /** How many of these it has rested for. */
  refusalsRested: number;
  /** The commit after which this process rests, and until when. */
  restsAfter: Id64 | undefined;
  restUntilMs: number;
}

export class Courtesy {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'random'>;
  readonly #contention: Contention;
  readonly #tag: string;
  readonly #containers = new LRUCache<EntityId, Manners>({ maxSize: CONTAINERS_MAX, sizeCalculation: () => 1 });

  /** `tag`: this process's, see `turnsBefore`. */
  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'random'>, contention: Contention, tag: string) {
    this.#runtime = runtime;
    this.#contention = contention;
    this.#tag = tag;
  }

  /** A read showed a commit of another process. */
  noteForeign(id: EntityId): void {
    this.#mannersOf(id).turnsDue = TURNS_AFTER_FOREIGN;
  }

  /** A commit of this process was refused, as another had come before: from now on it takes turns. */
  noteRefusal(id: EntityId): void {
    const manners = this.#mannersOf(id);
    manners.turnsDue = TURNS_AFTER_FOREIGN;
    manners.refusalsInARow += 1;
  }

  /** A commit of this process was acknowledged. */
  noteCommit(id: EntityId): void {
    const manners = this.#mannersOf(id);
    manners.turnsDue = Math.max(0, manners.turnsDue - 1);
    manners.refusalsInARow = 0;
  }

  /** How long others are asked to leave alone a container with so many bytes of pages, which this process is about to split. */
  holdMs(pageBytes: number): number {
    const tookMs = HOLD_ROUND_TRIPS * this.#contention.roundTripMs + pageBytes / SPLIT_BYTES_A_MS;
    return Math.min(REST_MOST_MS, Math.ceil(tookMs));
  }

  /** It was this process that asked, by the commit `attempt`. */
  noteOwnHold(id: EntityId, attempt: Id64): void {
    const manners = this.#mannersOf(id);
    manners.restsAfter = attempt;
    manners.restUntilMs = 0;
  }

  /**
   * How long to leave the container alone before it is looked at again: its last commit asks for it, or other processes have waited for it longer
   * (`turnsBefore`). 0: it may be written. A courtesy, of at most a second for each commit of others: conditions keep the data safe.
   */
  restMs(snapshot: Snapshot): number {
    const manners = this.#mannersOf(snapshot.id);
    const { header, lastCommit } = snapshot;
    if (manners.turnsDue === 0 && header.holdForMs === 0) return 0;
    const nowMs = this.#runtime.monotonicMs();
    if (manners.restsAfter !== lastCommit) {
      manners.restsAfter = lastCommit;
      const restMs = header.holdForMs || this.#turnMs(snapshot, manners);
      manners.restUntilMs = restMs === 0 ? 0 : nowMs + Math.min(REST_MOST_MS, restMs);
    }
    const leftMs = Math.max(0, manners.restUntilMs - nowMs);
    // Nobody came: those who wrote it have left.
    if (leftMs === 0 && manners.restUntilMs > 0) manners.turnsDue = 0;
    return header.holdForMs > 0 ? Math.min(leftMs, header.holdForMs / LOOKS_A_HOLD) : leftMs;
  }

  /** Where others hardly ever write there are no turns, whoever they were. */
  #turnMs({ id, header }: Snapshot, manners: Manners): number {
    const { roundTripMs } = this.#contention;
    const perMs = this.#contention.commitsPerMs(id);
    if (perMs * roundTripMs < CROWD_OF_TURNS) return 0;
    const turns = turnsBefore(header, this.#tag);
    if (turns === undefined) return this.#newcomerMs(manners);
    if (turns === 0 && manners.refusalsInARow === 0 && header.commitCount % COMMITS_A_GIFT === 0)
      return GIFT_ROUND_TRIPS * roundTripMs;
    return turns * Math.max(TURN_ROUND_TRIPS_LEAST * roundTripMs, TURN_SHARE / perMs);
  }

  /** Nobody knows of those who never had a turn, nor do they of each other: they thin out, once after each refusal, until one gets through. */
  #newcomerMs(manners: Manners): number {
    const { refusalsInARow, refusalsRested } = manners;
    if (refusalsInARow < 2 || refusalsInARow === refusalsRested) return 0;
    manners.refusalsRested = refusalsInARow;
    return this.#chance() * this.#contention.roundTripMs * (1 << Math.min(NEWCOMER_DOUBLINGS_MOST, refusalsInARow));
  }

  #chance(): number {
    return asBuffer(this.#runtime.random(1)).readUInt8() / 0xff;
  }

  #mannersOf(id: EntityId): Manners {
    let manners = this.#containers.get(id);
    if (manners === undefined) {
      manners = { turnsDue: 0, refusalsInARow: 0, refusalsRested: 0, restsAfter: undefined, restUntilMs: 0 };
      this.#containers.set(id, manners);
    }
    return manners;
  }
}
