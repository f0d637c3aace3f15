// Tables as they stand before a cell begins. Each is loaded once, by the store itself, and copied for every cell that begins with it: what the
// memory driver holds is never changed in place, so a copy is a map.
import { keyOf } from '../../compare/data/keys.ts';
import { memoryDriver, type MemoryState, memoryState } from '../../drivers/memory.ts';
import { type DriverLimits, openStore, type PutItem } from '../../store/index.ts';
import { InstanceRuntime } from '../instance/runtime.ts';
import { CHANCE, sourceOf } from '../time/chance.ts';
import { Scheduler } from '../time/scheduler.ts';
import { valueSource } from '../work/values.ts';

export const TABLE = 'records';

const LOADED_PER_CALL = 5_000;
const STEPS_MAX = 1_000_000_000;
/** More would not fit into memory beside others. */
const KEPT_MAX = 4;

export interface DatasetOptions {
  readonly records: number;
  readonly recordBytes: number;
  readonly limits: DriverLimits;
  readonly seed: number;
}

const kept = new Map<string, MemoryState>();

/** A table of so many records, of the caller's own. */
export async function datasetOf(options: DatasetOptions): Promise<MemoryState> {
  const { records, recordBytes, limits, seed } = options;
  const name = [limits.provider, limits.entityBytesMax, records, recordBytes, seed].join(' ');
  const known = kept.get(name) ?? (await load(options));
  kept.delete(name);
  kept.set(name, known);
  for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
  return { entities: new Map(known.entities), versionCount: known.versionCount };
}

async function load({ records, recordBytes, limits, seed }: DatasetOptions): Promise<MemoryState> {
  await loadHash();
  const state = memoryState();
  const scheduler = new Scheduler(seed);
  const runtime = new InstanceRuntime(scheduler, sourceOf(seed, CHANCE.dataset));
  const store = openStore({ driver: memoryDriver({ state, limits }), runtime });
  const valueOf = valueSource(seed, recordBytes);
  const work = async (): Promise<void> => {
    const table = await store.table<Uint8Array>(TABLE, { order: 'key', codec: 'bytes' });
    for (let first = 0; first < records; first += LOADED_PER_CALL) {
      const items = Array.from(
        { length: Math.min(LOADED_PER_CALL, records - first) },
        (_, offset): PutItem<Uint8Array> => {
          const index = first + offset;
          return { key: keyOf(index), value: valueOf(index, 0) };
        },
      );
      for (const outcome of await table.putMany(items)) if (outcome.status === 'failed') throw outcome.error;
    }
  };
  await scheduler.run(work(), STEPS_MAX);
  await scheduler.pass(60_000);
  return state;
}

/** The store compiles its hash function when it first opens a table: that takes real time, for which no virtual time waits. */
async function loadHash(): Promise<void> {
  const store = openStore({ driver: memoryDriver() });
  await store.table('compiles');
  await store.close();
}
