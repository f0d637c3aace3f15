// One process's estimates of containers' traffic: a wrong one costs a request, never a record.
import { LRUCache } from 'lru-cache';
import { layersOf } from '../container/layers.ts';
import { sumsOf } from '../container/size.ts';
import { pageBytesOf, type Snapshot } from '../container/snapshot.ts';
import type { Change } from '../container/change.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Runtime } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import { ContainerTraffic, HORIZON_MS } from './container-traffic.ts';
import { Rate } from './rate.ts';
import { Sharing } from './sharing.ts';
import { RoundTrip } from './round-trip.ts';
import { holdMs } from './writer-order.ts';

/** LRUCache allocates `max` slots at once, for each table that is opened; `maxSize` does not. */
const CONTAINERS_MAX = 10_000;
/** Container time: a second in which four were watched counts as 4 s. */
const TABLE_HORIZON_MS = 4 * HORIZON_MS;
/** Foreign commits expected since the last look. With more a read costs less than a refusal. */
const STALE_MAX = 0.16;
/** Commits follow in a row with no more round trips between them. */
const IN_A_ROW_ROUND_TRIPS = 2;
/** A commit that takes so many stood in line with others of its container. */
const IN_LINE_ROUND_TRIPS = 3;
/** One that nothing holds up takes no longer than so many reads. */
const COMMIT_READS = 3;
/** A shorter round trip costs a caller less than requests for more containers cost the process. */
const NEAR_MS = 4;
/** A near reply that takes longer may be lost: no check waits for it any more. */
const NEAR_WAIT_MS = 100;

/** Above this share sharing requests gains more than sending more of them. */
const BUSY_SHARE = 0.7;

/** How soon requests of one kind are answered that have the way to themselves. */
interface Way {
  readonly loneRoundTripMs: number;
  readonly roundTripMs: number;
}

interface Ways {
  readonly reads: Way;
  /** The driver's `commitsWait`. */
  readonly commitsWait: boolean;
}

export class Traffic {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'busyShare' | 'random'>;
  readonly #ways: Ways;
  readonly #tag: string;
  readonly #containers = new LRUCache<EntityId, ContainerTraffic>({
    maxSize: CONTAINERS_MAX,
    sizeCalculation: () => 1,
  });
  /** Commits of other processes in all containers. */
  readonly #foreign = new Rate();
  readonly #commits = new RoundTrip();
  /** What changes cost in leaves that this process commits to seldom. */
  readonly #seldom = new Sharing();

  /** `tag`: this process's, see `writersAhead`. */
  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'busyShare' | 'random'>, ways: Ways, tag: string) {
    this.#runtime = runtime;
    this.#ways = ways;
    this.#tag = tag;
  }

  /** A request is sent for the sake of the container's changes. */
  noteRequest(id: EntityId): void {
    this.#of(id).sharing.noteRequest();
  }

  /** A read showed the container, so many foreign commits after a look that is `ms` older. */
  noteLook(id: EntityId, look: { foreignCommits: number; ms: number; wasSplit: boolean }): void {
    if (look.ms > 0 && !look.wasSplit) this.#foreign.add(look.foreignCommits, look.ms, TABLE_HORIZON_MS);
    this.#of(id).noteLook(look, this.#nowMs);
  }

  /** A commit of this process was acknowledged. */
  noteCommit(id: EntityId, changes: readonly Change[], nowMs = this.#nowMs): void {
    const moment = { nowMs, roundTripMs: this.#freeCommitMs, seldom: this.#seldom };
    this.#of(id).noteCommit(changes, moment);
  }

  /** A commit of this process was refused, or its fate is unknown. */
  noteFailure(id: EntityId, isRefused: boolean): void {
    this.#of(id).noteFailure(isRefused);
  }

  /** A request with commits of these containers was answered so long after it left. */
  noteRoundTrip(ms: number, ids: readonly EntityId[], nowMs = this.#nowMs): void {
    this.#commits.note(ms);
    for (const id of ids) this.#of(id).noteAnswer(ms, nowMs);
  }

  /** This process split the container into these nodes, itself among them unless it is a root. */
  noteSplit(id: EntityId, nodes: readonly EntityId[]): void {
    const { foreign } = this.#of(id);
    for (const node of nodes) this.#of(node).forget(this.#nowMs, foreign.share(nodes.length));
  }

  /** A split of the container for its traffic failed. */
  noteLostSplit(id: EntityId, nowMs = this.#nowMs): void {
    this.#of(id).noteLostSplit(nowMs);
  }

  /** This process asked others to leave the container alone, by the commit `attempt`. */
  noteOwnHold(id: EntityId, attempt: Id64): void {
    this.#of(id).order.noteOwnHold(attempt);
  }

  /** Whether to read before a commit: it would probably be refused, or others starve. */
  isReadDue(snapshot: Snapshot, nowMs = this.#nowMs): boolean {
    const container = this.#of(snapshot.id);
    const isInARow = nowMs - snapshot.seen.monotonicMs <= IN_A_ROW_ROUND_TRIPS * this.#commits.ms;
    // A process that never met another looks for none.
    if (container.isLookDue && isInARow && container.foreign.perMs(this.#foreign.perMs()) > 0) return true;
    return this.isProbablyStale(snapshot, nowMs);
  }

  /** Whether a read should ask for header and pages without asking first if memory is current. */
  isProbablyStale({ id, seen }: Snapshot, nowMs = this.#nowMs): boolean {
    const foreignPerMs = this.#of(id).foreign.perMs(this.#foreign.perMs());
    return foreignPerMs * (nowMs - seen.monotonicMs) > STALE_MAX;
  }

  /** Whether checks wait for one sent at `sentMs`, and share the next request. */
  sharesChecks(sentMs: number): boolean {
    const isDueSoon = isNear(this.#ways.reads) && this.#nowMs - sentMs < NEAR_WAIT_MS;
    return isDueSoon || this.#runtime.busyShare() > BUSY_SHARE;
  }

  /** Whether the container's commits go alone: in a batch a refusal proves nothing (rule 1). */
  sendsAlone(id: EntityId): boolean {
    return this.#of(id).sendsAlone;
  }

  /** Nodes that the container should be split among; 0: it may stay as it is. */
  nodesFor({ id, header }: Snapshot, nowMs = this.#nowMs): number {
    const { records } = sumsOf(header.pages);
    // Branches are hints, written to seldom: they split by size alone.
    if (header.level > 0 || records < 2) return 0;
    const container = this.#of(id);
    if (!container.maySplit(nowMs)) return 0;
    return Math.min(records, container.sharing.nodes(layersOf(header)[0]!, this.#seldom));
  }

  /** How long others are asked to hold while this process splits the container. */
  holdMs({ header }: Snapshot): number {
    return holdMs(pageBytesOf(header), this.#commits.ms);
  }

  /** The pause before the next look, 0 for none: at most a second for each commit of others. */
  restMs(snapshot: Snapshot, nowMs = this.#nowMs): number {
    const container = this.#of(snapshot.id);
    if (container.order.mayWrite(snapshot)) return 0;
    return container.order.restMs(snapshot, {
      nowMs,
      runtime: this.#runtime,
      tag: this.#tag,
      roundTripMs: this.#commits.ms,
      commitsWait: this.#ways.commitsWait,
      lineMs: this.#lineMs(container.answerMs(nowMs)),
      commitsPerMs: container.commitsPerMs,
    });
  }

  /** The time, if it is that of a commit that stood in line; else 0. */
  #lineMs(answerMs: number): number {
    return this.#ways.commitsWait && answerMs > IN_LINE_ROUND_TRIPS * this.#freeCommitMs ? answerMs : 0;
  }

  /** The time of a commit that nothing holds up. Reads tell it if all commits stood in line. */
  get #freeCommitMs(): number {
    return Math.min(this.#commits.meanMs, COMMIT_READS * this.#ways.reads.roundTripMs);
  }

  get #nowMs(): number {
    return this.#runtime.monotonicMs();
  }

  #of(id: EntityId): ContainerTraffic {
    let container = this.#containers.get(id);
    if (container === undefined) {
      container = new ContainerTraffic(this.#nowMs);
      this.#containers.set(id, container);
    }
    return container;
  }
}

function isNear({ loneRoundTripMs }: Way): boolean {
  return loneRoundTripMs < NEAR_MS;
}
