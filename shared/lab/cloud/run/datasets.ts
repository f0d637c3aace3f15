// Tables before a cell. Small ones are loaded once and copied: the memory driver changes nothing
// in place. Larger ones are made up.
import { LRUCache } from 'lru-cache';
import { chunks } from '../../kit/chunks.ts';
import { keyOf } from '../../work/keys.ts';
import { type RecordFields, recordSource } from '../../work/records.ts';
import { memoryDriver } from '../../../drivers/memory.ts';
import { type MemoryMapState, type MemoryState, memoryState } from '../../../drivers/memory/effects.ts';
import { type DriverLimits, openStore } from '../../../store/index.ts';
import { loadHash } from '../../../store/system/hash.ts';
import { InstanceRuntime } from '../instance/runtime.ts';
import { MadeUpEntities } from '../tables/entities.ts';
import { madeUpKey } from '../tables/made-up.ts';
import { OverlayEntities } from '../tables/overlay.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { Scheduler } from '../../kit/scheduler.ts';
import type { ModelCell } from './cell.ts';

export const TABLE = 'records';

/** Larger tables are made up. */
const LOADED_MAX = 100_000;
const LOADED_PER_CALL = 5_000;
const STEPS_MAX = 1_000_000_000;
/** Work left by a load is done within this virtual time. */
const SETTLES_MS = 60_000;
/** A million records take some more. */
const MADE_UP_BYTES_MAX = 256 * 2 ** 20;

/** A table, and how its records are called. */
export interface Dataset {
  readonly state: MemoryState;
  readonly keyOf: (index: number) => string;
  /** Entities now; null for a made-up table. */
  readonly containers: () => number | null;
}

/** Tables shared by cells that follow each other; more would take too much memory. */
const loaded = new LRUCache<string, MemoryMapState>({ max: 3 });
const madeUp = new LRUCache<string, MadeUpEntities>({ max: 1 });

/** A table of so many records, the caller's own. */
export async function datasetOf(cell: ModelCell, limits: DriverLimits): Promise<Dataset> {
  const { records, recordBytes, containerKib, seed } = cell;
  // The hash compiles at first use: real time, for which no virtual time waits.
  await loadHash();
  const name = [limits.provider, containerKib, records, recordBytes, seed].join(' ');
  const size = containerKib === null ? {} : { containerBytesMax: containerKib * 1_024 };
  if (records > LOADED_MAX) {
    const table = { table: TABLE, records, recordBytes, limits, ...size };
    const base = madeUp.get(name) ?? new MadeUpEntities(table, MADE_UP_BYTES_MAX);
    madeUp.set(name, base);
    const state = { entities: new OverlayEntities(base), versionCount: 0 };
    return { state, keyOf: madeUpKey, containers: () => null };
  }
  const known = loaded.get(name) ?? (await load(cell, limits, size));
  loaded.set(name, known);
  const entities = new Map(known.entities);
  return { state: { entities, versionCount: known.versionCount }, keyOf, containers: () => entities.size };
}

async function load(
  { records, recordBytes, seed }: ModelCell,
  limits: DriverLimits,
  size: { readonly containerBytesMax?: number },
): Promise<MemoryMapState> {
  const state = memoryState();
  const scheduler = new Scheduler(seed);
  const runtime = new InstanceRuntime(scheduler, sourceOf(seed, CHANCE.dataset));
  const store = openStore({ driver: memoryDriver({ state, limits }), runtime });
  const source = recordSource(seed, recordBytes);
  const items = Array.from({ length: records }, (_, index) => {
    const { key, fields } = source(index, 0);
    return { key, value: fields };
  });
  const work = async (): Promise<void> => {
    const table = await store.table<RecordFields>(TABLE, { order: 'key', ...size });
    for (const some of chunks(items, LOADED_PER_CALL))
      for (const outcome of await table.putMany(some)) if (outcome.status === 'failed') throw outcome.error;
  };
  await scheduler.run(work(), STEPS_MAX);
  await scheduler.pass(SETTLES_MS);
  return state;
}
