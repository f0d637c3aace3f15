// All that the store's tables share, and one table's own reader, tree and batches.
import type { CommitRules } from '../container/plan-commit.ts';
import { pageBytesFor } from '../container/seal-page.ts';
import { containerBytesMaxOf } from '../container/size.ts';
import type { Driver } from '../contract/driver.ts';
import type { Compression, Runtime } from '../contract/runtime.ts';
import type { RequestLimit } from '../io/request-limit.ts';
import type { Clock } from '../io/clock.ts';
import type { ContainerCache } from '../io/container-cache.ts';
import { type Counters, newCounters } from '../io/counters.ts';
import type { Deadlines } from '../io/deadline.ts';
import { Reader, type ReaderContext } from '../io/reader.ts';
import type { Semaphore } from '../io/semaphore.ts';
import { Turns } from '../io/turns.ts';
import { WriteBatcher } from '../io/write-batcher.ts';
import { Traffic } from '../traffic/traffic.ts';
import type { Repair } from './route.ts';
import { Tree } from './tree.ts';

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
  /** Rule 11. */
  readonly repair: Repair;
  readonly landedBetween: ReaderContext['landedBetween'];
}

export interface EngineCore extends StoreShared, EngineSubject {
  readonly containerBytesMax: number;
  readonly counters: Counters;
  readonly rules: CommitRules;
  readonly turns: Turns;
  readonly reader: Reader;
  readonly tree: Tree;
  readonly writeBatcher: WriteBatcher;
  readonly traffic: Traffic;
}

/** No I/O. Throws `invalid` for a container size that is out of range. */
export function createCore(shared: StoreShared, subject: EngineSubject): EngineCore {
  const { cache, clock, compression, readLimit, runtime, tag, writeLimit } = shared;
  const { table, driver, repair, landedBetween } = subject;
  const containerBytesMax = containerBytesMaxOf(subject.containerBytesMax, driver.limits);
  const splitLimits = { ...driver.limits, entityBytesMax: containerBytesMax };
  const counters = newCounters();
  const turns = new Turns(runtime);
  const traffic = new Traffic(
    runtime,
    { reads: readLimit, writes: writeLimit, commitsWait: driver.limits.commitsWait },
    tag,
  );
  const reader = new Reader({
    table,
    driver,
    cache,
    clock,
    runtime,
    limit: readLimit,
    counters,
    traffic,
    landedBetween,
  });
  return {
    ...shared,
    ...subject,
    containerBytesMax,
    counters,
    rules: { table, limits: driver.limits, splitLimits, compression, pageBytes: pageBytesFor(splitLimits) },
    turns,
    traffic,
    reader,
    tree: new Tree({ table, reader, cache, clock, counters, turns, repair }),
    writeBatcher: new WriteBatcher({ table, driver, counters }, writeLimit, {
      runtime,
      noteRoundTrip: (ms, ids) => traffic.noteRoundTrip(ms, ids),
    }),
  };
}
