// The engine of one table in one process: its reader, its tree, its commit queues, and what they share. Queues exist while they have work.
import type { LimitFunction } from 'p-limit';
import { Change } from '../container/change.ts';
import type { PageRules } from '../container/seal-page.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { Driver, EntityId } from '../contract/driver.ts';
import { StoreError, tableNotFound } from '../contract/errors.ts';
import type { Compression, Compressor, Runtime } from '../contract/runtime.ts';
import type { Id64 } from '../format/bytes.ts';
import { incarnationOf, rootId } from '../format/ids.ts';
import { decodeKey, type Position } from '../format/position.ts';
import type { AdaptiveLimit } from '../io/adaptive-limit.ts';
import type { Clock } from '../io/clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import { type Counters, newCounters } from '../io/counters.ts';
import type { Deadlines } from '../io/deadline.ts';
import { type Observation, Reader } from '../io/reader.ts';
import type { RecentContainers } from '../io/recent-containers.ts';
import { Turns } from '../io/turns.ts';
import { WriteBatcher } from '../io/write-batcher.ts';
import { CommitQueue } from './commit-queue.ts';
import { Tree } from './tree.ts';

/** Repairs under way at most; further ones are dropped, to be found again by the next walk. */
const REPAIRS_MAX = 256;
/** A change that is sent on more often meets a damaged table. */
const REROUTES_MAX = 50;
/** Expanded bytes of a page. Measured: see DESIGN.md, "Page size". */
const PAGE_BYTES = 8 * 1024;

export interface EngineOptions {
  readonly table: string;
  readonly driver: Driver;
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly recentContainers: RecentContainers;
  readonly runtime: Runtime;
  readonly deadlines: Deadlines;
  /** How many reads, and how many commits, may be in flight. */
  readonly readLimit: AdaptiveLimit;
  readonly writeLimit: AdaptiveLimit;
  /** How many queues may work on a commit at a time, its journey included: bounds their memory. */
  readonly limitCommits: LimitFunction;
  readonly compressor: Compressor;
  /** From one commit of a container to its next, at least. */
  readonly commitIntervalMs: number;
  readonly compression: Compression;
}

export class Engine {
  readonly table: string;
  readonly driver: Driver;
  readonly cache: ContainerCache;
  readonly clock: Clock;
  readonly runtime: Runtime;
  readonly deadlines: Deadlines;
  readonly turns: Turns;
  readonly readLimit: AdaptiveLimit;
  readonly writeLimit: AdaptiveLimit;
  readonly limitCommits: LimitFunction;
  readonly compressor: Compressor;
  readonly writeBatcher: WriteBatcher;
  readonly counters: Counters = newCounters();
  readonly rules: PageRules;
  readonly reader: Reader;
  readonly tree: Tree;
  readonly recentContainers: RecentContainers;
  readonly commitIntervalMs: number;
  readonly #queues = new Map<EntityId, CommitQueue>();
  readonly #repairs = new Set<string>();

  constructor(options: EngineOptions) {
    const { table, driver, cache, clock, readLimit, writeLimit, compression } = options;
    this.table = table;
    this.driver = driver;
    this.cache = cache;
    this.clock = clock;
    this.recentContainers = options.recentContainers;
    this.runtime = options.runtime;
    this.deadlines = options.deadlines;
    this.turns = new Turns(options.runtime);
    this.readLimit = readLimit;
    this.writeLimit = writeLimit;
    this.limitCommits = options.limitCommits;
    this.compressor = options.compressor;
    this.commitIntervalMs = options.commitIntervalMs;
    this.writeBatcher = new WriteBatcher(this, writeLimit);
    // A container should hold many pages, also where a provider's entities are small.
    const pageBytes = Math.min(PAGE_BYTES, Math.ceil(driver.limits.entityBytesMax / 16));
    this.rules = { table, limits: driver.limits, compression, pageBytes };
    this.reader = new Reader({ table, driver, cache, clock, limit: readLimit, counters: this.counters });
    this.tree = new Tree({
      table,
      reader: this.reader,
      cache,
      counters: this.counters,
      turns: this.turns,
      repair: this.repair.bind(this),
    });
  }

  /** Sends each change to the queue of the container that the branches name. An error settles the changes it concerns. */
  async route(changes: readonly Change[]): Promise<void> {
    const routed = await this.tree.group(changes, failChange);
    for (const [id, queued] of routed) this.enqueue(id, queued);
  }

  enqueue(id: EntityId, changes: readonly Change[]): void {
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = new CommitQueue(id, this);
      this.#queues.set(id, queue);
    }
    queue.add(changes);
  }

  /** Caches what a read showed to be this process's own commit, sent and not yet answered: its content is known already. */
  recognise(id: EntityId, observed: Observation | undefined): void {
    const attempt = this.#queues.get(id)?.underWay;
    if (attempt === undefined || observed?.lastCommit !== attempt.id) return;
    const { version, seen } = observed;
    this.cache.offer({ id, version, header: attempt.header, lastCommit: attempt.id, seen });
  }

  /** Called by a queue that ran empty. */
  queueIsIdle(id: EntityId): void {
    this.#queues.delete(id);
  }

  /** Routes changes anew that a node's fences turned away. */
  routeAstray(astray: Snapshot, changes: readonly Change[]): void {
    this.#reroute(changes, () => this.tree.restart(astray, changes[0]?.level ?? 0));
  }

  /** Routes changes anew whose container is missing. */
  routeAfterMiss(id: EntityId, changes: readonly Change[]): void {
    this.#reroute(changes, async () => {
      if (id === rootId(this.table)) throw tableNotFound(this.table);
      const missedBefore = changes.some((change) => change.misses > 0);
      for (const change of changes) change.misses += 1;
      await this.tree.rootAfterMiss({ id, incarnation: incarnationOf(id) }, missedBefore);
    });
  }

  #reroute(changes: readonly Change[], prepare: () => Promise<void>): void {
    const work = async (): Promise<void> => {
      try {
        await prepare();
      } catch (error) {
        for (const change of changes) change.settle({ kind: 'failed', error });
        return;
      }
      for (const change of changes) {
        change.reroutes += 1;
        if (change.reroutes > REROUTES_MAX) {
          change.settle({
            kind: 'failed',
            error: new StoreError('corrupt', 'no container owns the position of the key', { table: this.table }),
          });
        }
      }
      await this.route(changes.filter((change) => !change.isSettled));
    };
    void work();
  }

  /** Rule 11: gives the parent level a routing entry, in the background. Deduplicated; dropped at the first trouble. */
  repair(level: number, incarnation: Id64, low: Position, child: Id64): void {
    const name = `${incarnation}/${level}/${Buffer.from(low).toString('base64')}`;
    if (this.#repairs.has(name) || this.#repairs.size >= REPAIRS_MAX) return;
    this.#repairs.add(name);
    const value = Buffer.from(child, 'hex');
    const change = new Change({
      position: low,
      key: low,
      order: undefined,
      level,
      bytes: 0,
      begunTick: this.clock.now().tick,
      isHint: true,
      wish: (current, found) => {
        const isKnown = current !== undefined || found !== incarnation;
        return isKnown ? { kind: 'none' } : { kind: 'write', codec: 0, value, expiresAtMs: undefined };
      },
      sink: { settled: () => this.#repairs.delete(name) },
      index: 0,
    });
    void this.route([change]);
  }

  /** The outcome of a change that was sent and could not be settled. */
  unknown({ key, sentTo }: Change, cause?: unknown): StoreError {
    const message = 'the write was sent and its fate is not known: read the record before deciding what to do';
    return new StoreError('unknown', message, { table: this.table, key: decodeKey(key), container: sentTo, cause });
  }

  /** Commit queues that have work. */
  get busyQueues(): number {
    return this.#queues.size;
  }
}

function failChange(change: Change, error: unknown): void {
  change.settle({ kind: 'failed', error });
}
