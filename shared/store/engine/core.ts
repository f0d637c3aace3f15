// What the tables of one store share, and what each table has of its own.
import type { CommitRules } from '../container/plan-commit.ts';
import type { Driver, EntityId } from '../contract/driver.ts';
import type { Compression, Runtime } from '../contract/runtime.ts';
import type { RequestLimit, Semaphore, WriteBatcher } from '../io/requests.ts';
import type { Clock } from '../io/moment-clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import type { Counters } from '../io/counters.ts';
import type { Deadlines } from '../io/deadline.ts';
import type { Reader } from '../io/reads.ts';
import type { Turns } from '../io/turns.ts';
import type { Contention } from '../machine/contention.ts';
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

export interface EngineCore extends StoreShared, EngineSubject {
  readonly containerBytesMax: number;
  readonly counters: Counters;
  readonly rules: CommitRules;
  readonly turns: Turns;
  readonly reader: Reader;
  readonly writeBatcher: WriteBatcher;
  readonly contention: Contention;
  /** The containers that have work. */
  readonly leaves: Map<EntityId, Leaf>;
}
