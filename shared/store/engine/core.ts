// All that the store's tables share, and one table's own reader, tree and batches.
import type { CommitRules } from '../container/plan-commit.ts';
import type { Driver, EntityId } from '../contract/driver.ts';
import type { Compression, Runtime } from '../contract/runtime.ts';
import type { RequestLimit, Semaphore } from '../io/request-limit.ts';
import type { Clock } from '../io/moment-clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counters } from '../io/counters.ts';
import type { Deadlines } from '../io/deadline.ts';
import type { Reader } from '../io/reads.ts';
import type { Turns } from '../io/turns.ts';
import type { WriteBatcher } from '../io/write-batcher.ts';
import type { Contention } from '../machine/contention.ts';
import type { Leaf } from '../machine/leaf.ts';

/** Shared by the engines of one store. */
export interface StoreShared {
  readonly runtime: Runtime;
  readonly clock: Clock;
  /** Begins the ids of all attempts of this process, see `drawAttempt`. */
  readonly tag: string;
  readonly cache: ContainerCache;
  readonly deadlines: Deadlines;
  /** How many reads, and how many commits, may be in flight. */
  readonly readLimit: RequestLimit;
  readonly writeLimit: RequestLimit;
  /** How many queues may work on a commit at a time, its journey included: bounds their memory. */
  readonly commitsAtATime: Semaphore;
  readonly compression: Compression;
}

/** The subject of an engine. */
export interface EngineSubject {
  readonly table: string;
  readonly driver: Driver;
  /** As `TableOptions` has it; undefined: the default. */
  readonly containerBytesMax?: number | undefined;
}

export interface EngineCore extends StoreShared, EngineSubject {
  readonly containerBytesMax: number;
  readonly counters: Counters;
  readonly rules: CommitRules;
  readonly turns: Turns;
  readonly reader: Reader;
  readonly writeBatcher: WriteBatcher;
  readonly contention: Contention;
  /** Those that have work. */
  readonly leaves: Map<EntityId, Leaf>;
}
