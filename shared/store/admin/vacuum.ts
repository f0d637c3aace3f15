// One vacuum: removes garbage, merges quiet neighbours. It may end after any container.
import type { VacuumReport } from '../contract/results.ts';
import { type EntityId, PROBE_PREFIX } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import { nodesPrefix } from '../format/ids.ts';
import { listIds } from '../io/send.ts';
import { dropEntries, readSeparators } from './entries.ts';
import { type Levels, walkLevels } from './levels.ts';
import { removeEntity } from './lifecycle.ts';
import { LeafMerger } from './merge-leaves.ts';
import type { Tally } from './merge-pair.ts';
import { judge } from './orphans.ts';

/** Merges leaves that nobody wrote for `quietMs`. `ended` aborts when the call ends. */
export interface Merging {
  readonly quietMs: number;
  readonly ended: AbortSignal;
}

/** Looks at every node twice: for garbage, and after the quiet time for neighbours to merge. */
export async function vacuumTable(engine: Engine, merging: Merging): Promise<VacuumReport> {
  const none = { removed: 0, left: 0, foreign: 0, merged: 0, stripped: 0, purged: 0, busy: 0, entriesDropped: 0 };
  const ids: EntityId[] = [];
  for await (const id of listIds(engine.driver, nodesPrefix(engine.table))) ids.push(id);
  const tally: Tally = { listed: ids.length, ...none, damaged: new Set() };
  const levels = await walkLevels(engine, tally);
  for (const id of ids) {
    if (levels?.linked.has(id) === true) continue;
    const fate = await judge(engine, id, levels?.incarnation);
    if (fate !== 'lives') tally[fate] += 1;
  }
  if (levels !== undefined) await mergeLeaves(engine, levels, merging, tally);
  tally.merged = engine.counters.merges;
  await clearProbes(engine);
  return { ...tally, damaged: tally.damaged.size };
}

async function mergeLeaves(engine: Engine, levels: Levels, { quietMs, ended }: Merging, tally: Tally): Promise<void> {
  const waitMs = levels.sinceMs + quietMs - engine.runtime.monotonicMs();
  if (waitMs > 0) await engine.runtime.sleep(waitMs, ended);
  const separators = await readSeparators(engine);
  const lows = await new LeafMerger(engine, levels.commitCounts, tally).run(levels.leftmostLeaf);
  if (separators !== undefined && lows !== undefined)
    tally.entriesDropped = await dropEntries(engine, levels.incarnation, separators, lows);
}

/** Removes entities that drivers wrote to probe their provider. */
async function clearProbes(engine: Engine): Promise<void> {
  for await (const id of listIds(engine.driver, PROBE_PREFIX)) await removeEntity(engine, id);
}
