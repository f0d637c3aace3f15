// What the tables of one store share, and what the engine of each has of its own.
import { containerBytesMaxOf } from '../container/container-size.ts';
import type { CommitRules } from '../container/plan-commit.ts';
import { pageBytesFor } from '../container/new-pages.ts';
import type { Driver, EntityId } from '../contract/driver.ts';
import type { Compression, Runtime } from '../contract/runtime.ts';
import { type RequestLimit, type Semaphore, WriteBatcher } from '../io/requests.ts';
import type { Clock } from '../io/clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import { newCounters } from '../system/tracing.ts';
import type { Deadlines } from '../io/deadline.ts';
import { Reader, type ReaderContext } from '../io/reads.ts';
import { Turns } from '../io/turns.ts';
import { newContention, note } from '../machine/contention.ts';
import type { Leaf } from '../machine/leaf.ts';

/** What all engines of one store share. */
export interface StoreShared {
  readonly runtime: Runtime;
  readonly clock: Clock;
  /** Begins the ids of all attempts of this process, see `drawAttempt`. */
  readonly tag: string;
  readonly cache: ContainerCache;
  readonly deadlines: Deadlines;
  /** Bound the reads and the commits in flight. */
  readonly readLimit: RequestLimit;
  readonly writeLimit: RequestLimit;
  /** Bounds the containers that work on a commit at a time, and so their memory. */
  readonly commitsAtATime: Semaphore;
  readonly compression: Compression;
}

/** The table that an engine is for. */
export interface EngineSubject {
  readonly table: string;
  readonly driver: Driver;
  /** As in `TableOptions`; undefined: the driver's default. */
  readonly containerBytesMax?: number | undefined;
}

export type EngineCore = ReturnType<typeof newCore>;

/** No I/O. Throws `invalid` for a container size that is out of range. */
export function newCore(shared: StoreShared, { table, driver, containerBytesMax: asked }: EngineSubject) {
  const { compression, readLimit, runtime, tag, writeLimit } = shared;
  const { limits } = driver;
  const containerBytesMax = containerBytesMaxOf(asked, limits);
  const splitLimits = { ...limits, entityBytesMax: containerBytesMax };
  const rules: CommitRules = { table, limits, splitLimits, compression, pageBytes: pageBytesFor(splitLimits) };
  const contention = newContention(tag, { reads: readLimit, commits: writeLimit, commitsWait: limits.commitsWait });
  const noteLook: ReaderContext['noteLook'] = (id, look) =>
    note(contention, id, { kind: 'look', ...look }, runtime.monotonicMs());
  /** The containers that have work. */
  const leaves = new Map<EntityId, Leaf>();
  const provider = { table, driver, counters: newCounters() };
  return {
    ...shared,
    ...provider,
    containerBytesMax,
    rules,
    contention,
    leaves,
    turns: new Turns(runtime),
    reader: new Reader({ ...shared, ...provider, limit: readLimit, noteLook, leaves }),
    writeBatcher: new WriteBatcher(provider, writeLimit),
  };
}
