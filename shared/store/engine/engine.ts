// The engine of one table in one process: its core and the router of changes.
import { pageBytesFor } from '../container/new-pages.ts';
import { containerBytesMaxOf } from '../container/container-size.ts';
import { newCounters } from '../io/counters.ts';
import { Hedge } from '../io/hedge.ts';
import { Reader, type ReaderContext } from '../io/reads.ts';
import { Turns } from '../io/turns.ts';
import { WriteBatcher } from '../io/requests.ts';
import { newContention, note } from '../machine/contention.ts';
import type { EngineCore, EngineSubject, StoreShared } from './core.ts';
import { Router } from './router.ts';
import type { Tree } from './tree-runner.ts';

export interface Engine extends EngineCore {
  readonly router: Router;
  readonly tree: Tree;
}

/** No I/O. Throws `invalid` for a container size that is out of range. */
export function createEngine(shared: StoreShared, subject: EngineSubject): Engine {
  const { cache, clock, compression, deadlines, readLimit: limit, runtime, tag, writeLimit } = shared;
  const { table, driver } = subject;
  const { limits } = driver;
  const containerBytesMax = containerBytesMaxOf(subject.containerBytesMax, limits);
  const splitLimits = { ...limits, entityBytesMax: containerBytesMax };
  const counters = newCounters();
  const turns = new Turns(runtime);
  const way = { reads: limit, commits: writeLimit, commitsWait: limits.commitsWait };
  const contention = newContention(tag, way);
  const noteLook: ReaderContext['noteLook'] = (id, look) =>
    note(contention, id, { kind: 'look', ...look }, runtime.monotonicMs());
  const leaves: EngineCore['leaves'] = new Map();
  const provider = { table, driver, counters };
  const hedge = new Hedge(deadlines);
  const reader = new Reader({ ...provider, cache, clock, hedge, limit, runtime, noteLook, leaves });
  const core: EngineCore = {
    ...shared,
    ...subject,
    containerBytesMax,
    counters,
    rules: { table, limits, splitLimits, compression, pageBytes: pageBytesFor(splitLimits) },
    turns,
    contention,
    reader,
    leaves,
    writeBatcher: new WriteBatcher(provider, writeLimit),
  };
  const router = new Router(core);
  return { ...core, router, tree: router.tree };
}
