// Tables before a cell. Small ones are loaded once and copied: the memory driver changes nothing
// in place. Larger ones are made up.
import { keyOf } from '../../work/keys.ts';
import { type RecordFields, recordSource } from '../../work/records.ts';
import { memoryDriver } from '../../../drivers/memory.ts';
import { type MemoryMapState, type MemoryState, memoryState } from '../../../drivers/memory/effects.ts';
import { type DriverLimits, openStore, type PutItem } from '../../../store/index.ts';
import { InstanceRuntime } from '../instance/runtime.ts';
import { MadeUpEntities } from '../tables/entities.ts';
import { bulkLoaded, madeUpKey } from '../tables/made-up.ts';
import { OverlayEntities } from '../tables/overlay.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { Scheduler } from '../time/scheduler.ts';

export const TABLE = 'records';

/** Larger tables are made up. */
const LOADED_MAX = 100_000;
const LOADED_PER_CALL = 5_000;
const STEPS_MAX = 1_000_000_000;
/** Work left by a load is done within this virtual time. */
const SETTLES_MS = 60_000;
/** More would take too much memory. */
const LOADED_TABLES_MAX = 3;
/** A million records take some more. */
const MADE_UP_BYTES_MAX = 256 * 2 ** 20;

export interface DatasetOptions {
  readonly records: number;
  readonly recordBytes: number;
  readonly limits: DriverLimits;
  /** Null, or left out: the store's. */
  readonly containerKib?: number | null | undefined;
  readonly seed: number;
}

/** A table, and how its records are called. */
export interface Dataset {
  readonly state: MemoryState;
  readonly keyOf: (index: number) => string;
  /** Entities now; null for a made-up table. */
  readonly containers: () => number | null;
}

/** Tables shared by cells that follow each other; the last used is last. */
class Kept<T> {
  readonly #kept = new Map<string, T>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  async take(name: string, make: () => Promise<T>): Promise<T> {
    const taken = this.#kept.get(name) ?? (await make());
    this.#kept.delete(name);
    this.#kept.set(name, taken);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > this.#most) this.#kept.delete(oldest);
    return taken;
  }
}

const loaded = new Kept<MemoryMapState>(LOADED_TABLES_MAX);
const madeUp = new Kept<MadeUpEntities>(1);

/** A table of so many records, the caller's own. */
export async function datasetOf(options: DatasetOptions): Promise<Dataset> {
  const { records, recordBytes, limits, seed } = options;
  const containerBytesMax = containerBytesOf(options);
  await loadHash();
  const name = [limits.provider, containerBytesMax, records, recordBytes, seed].join(' ');
  if (records > LOADED_MAX) {
    const table = { ...bulkLoaded(TABLE, records, limits, containerBytesMax), recordBytes };
    const base = await madeUp.take(name, async () => new MadeUpEntities(table, MADE_UP_BYTES_MAX));
    const state = { entities: new OverlayEntities(base), versionCount: 0 };
    return { state, keyOf: madeUpKey, containers: () => null };
  }
  const known = await loaded.take(name, () => load(options));
  const entities = new Map(known.entities);
  return { state: { entities, versionCount: known.versionCount }, keyOf, containers: () => entities.size };
}

function containerBytesOf({ containerKib }: Pick<DatasetOptions, 'containerKib'>): number | undefined {
  return containerKib === null || containerKib === undefined ? undefined : containerKib * 1_024;
}

async function load({ records, recordBytes, limits, containerKib, seed }: DatasetOptions): Promise<MemoryMapState> {
  const state = memoryState();
  const scheduler = new Scheduler(seed);
  const runtime = new InstanceRuntime(scheduler, sourceOf(seed, CHANCE.dataset));
  const store = openStore({ driver: memoryDriver({ state, limits }), runtime });
  const source = recordSource(seed, recordBytes);
  const work = async (): Promise<void> => {
    const containerBytesMax = containerBytesOf({ containerKib });
    const size = containerBytesMax === undefined ? {} : { containerBytesMax };
    const table = await store.table<RecordFields>(TABLE, { order: 'key', ...size });
    for (let first = 0; first < records; first += LOADED_PER_CALL) {
      const count = Math.min(LOADED_PER_CALL, records - first);
      const items = Array.from({ length: count }, (_, offset): PutItem<RecordFields> => {
        const { key, fields } = source(first + offset, 0);
        return { key, value: fields };
      });
      for (const outcome of await table.putMany(items)) if (outcome.status === 'failed') throw outcome.error;
    }
  };
  await scheduler.run(work(), STEPS_MAX);
  await scheduler.pass(SETTLES_MS);
  return state;
}

let isHashLoaded = false;

/** The store compiles its hash at first use: real time, for which no virtual time waits. */
export async function loadHash(): Promise<void> {
  if (isHashLoaded) return;
  const store = openStore({ driver: memoryDriver() });
  await store.table('compiles');
  await store.close();
  isHashLoaded = true;
}
