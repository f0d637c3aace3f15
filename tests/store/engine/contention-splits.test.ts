// Containers with many writers split, as fewer writers share each part and conflict less.
import { expect, test } from 'vitest';
import type { MemoryFault } from '../../../shared/drivers/memory.ts';
import type { DriverLimits } from '../../../shared/store/contract/driver.ts';
import type { Table } from '../../../shared/store/index.ts';
import { normal } from '../../../shared/drivers/slow/slow-cloud.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { faultsOf, leavesOf, storedKeys } from '../rules/tree-of.ts';
import { isWriteOf, key, type Rule, text, World } from '../rules/world.ts';

const RECORDS = 32;
const KEYS = Array.from({ length: RECORDS }, (_, number) => key(number));

interface Shared {
  readonly processes: number;
  readonly keys?: readonly string[];
  readonly groupBy?: string;
  readonly limits?: Partial<DriverLimits>;
  /** Default: the provider's most. */
  readonly containerBytesMax?: number;
  /** The median of the time that a request takes one way, and its reply. */
  readonly halfMs?: number;
  /** Faults beside the time that each request takes. */
  readonly rule?: Rule;
}

/** A table of `keys` records in one leaf, opened by `processes`. Every request takes time. */
async function shared({ processes, keys = KEYS, groupBy, limits = {}, containerBytesMax, halfMs = 3, rule }: Shared) {
  const world = new World({ limits });
  const runtime = new VirtualRuntime();
  const draw = seededRandom(7);
  // One way, lognormal as in networks. With equal times the same process would always be too late.
  const wayMs = (): number => halfMs * Math.exp(0.6 * normal(draw));
  const near = world.process();
  const size = containerBytesMax === undefined ? {} : { containerBytesMax };
  const options = { order: 'key', ...(groupBy && { groupBy }), ...size } as const;
  const table = await world.run(near.store.table<string>('t', options));
  await world.run(table.putMany(keys.map((each) => ({ key: each, value: text(each) }))));
  const tables: Table<string>[] = [];
  for (let index = 0; index < processes; index += 1) {
    const process = world.process({ runtime });
    if (rule !== undefined) process.rule(rule);
    process.rule(async () => {
      await runtime.sleep(wayMs());
      return { reply: runtime.sleep(wayMs()) };
    });
    tables.push(await runtime.run(process.store.table<string>('t', size)));
  }
  const leaves = (): number => leavesOf(world.state, 't').length;
  return { world, runtime, tables, leaves };
}

interface Putting {
  readonly runtime: VirtualRuntime;
  readonly tables: readonly Table<string>[];
  readonly keys?: readonly string[];
}

/** Callers put their own keys, one after the other. Gives each key's last acknowledged value. */
async function putFor({ runtime, tables, keys = KEYS }: Putting, callers: number, ms: number) {
  const endMs = runtime.monotonicMs() + ms;
  const last = new Map<string, string>();
  const calling = tables.flatMap((table, index) =>
    Array.from({ length: callers }, async (_, caller) => {
      const own = keys.filter((_each, number) => number % (tables.length * callers) === index * callers + caller);
      for (let count = 0; runtime.monotonicMs() < endMs; count += 1) {
        const each = own[count % own.length]!;
        const value = text(`${each} ${count}`);
        await table.put(each, value);
        last.set(each, value);
      }
    }),
  );
  await runtime.run(Promise.all(calling));
  return last;
}

test('a container that several processes write to is split, and every write is kept', async () => {
  const { world, runtime, tables, leaves } = await shared({ processes: 4 });
  const last = await putFor({ runtime, tables }, 1, 8_000);
  expect(leaves()).toBeGreaterThan(4);
  expect(tables.reduce((sum, table) => sum + table.stats().contentionSplits, 0)).toBeGreaterThan(0);
  expect(faultsOf(world.state, 't')).toEqual([]);
  expect(storedKeys(world.state, 't').toSorted()).toEqual(KEYS);
  for (const [each, value] of last) expect((await runtime.run(tables[0]!.get(each)))?.value).toBe(value);
});

test('one vacuum joins what sixteen processes split, beside one that still writes', async () => {
  const keys = Array.from({ length: 2_048 }, (_, number) => key(number));
  // Round trips of 120 ms: a minute of them has as many commits as three seconds of 6 ms.
  const setting = { processes: 16, keys, containerBytesMax: 65_536, halfMs: 60 };
  const { world, runtime, tables, leaves } = await shared(setting);
  const fresh = leaves();
  await putFor({ runtime, tables, keys }, 1, 60_000);
  expect(leaves()).toBeGreaterThan(3 * fresh);
  const vacuumer = world.process({ runtime }).store;
  const vacuuming = vacuumer.vacuum('t', { quietMs: 10_000, containerBytesMax: 65_536, timeoutMs: 3_600_000 });
  const last = await putFor({ runtime, tables: tables.slice(0, 1), keys }, 4, 60_000);
  await runtime.run(vacuuming);
  expect(leaves()).toBeLessThanOrEqual(1.5 * fresh);
  expect(storedKeys(world.state, 't').toSorted()).toEqual(keys);
  for (const [each, value] of last) expect((await runtime.run(tables[0]!.get(each)))?.value).toBe(value);
});

test.each<[string, MemoryFault]>([
  ['fail', { fail: 'unavailable' }],
  ['are not answered in time', { reply: new Promise(() => undefined) }],
])('a process whose split is given up as its nodes %s holds up nobody for longer', async (_, fault) => {
  const rule: Rule = (call) => (isWriteOf('insert')(call) ? fault : undefined);
  const { runtime, tables, leaves } = await shared({ processes: 4, rule });
  await putFor({ runtime, tables }, 2, 8_000);
  expect(tables.reduce((sum, table) => sum + table.stats().lostSplits, 0)).toBeGreaterThan(0);
  expect(leaves()).toBe(1);
  expect(runtime.monotonicMs()).toBeLessThan(9_500);
});

test('processes ask for no freeze of a container of one group', async () => {
  const keys = KEYS.map((each) => `a/${each}`);
  const { runtime, tables, leaves } = await shared({ processes: 4, keys, groupBy: '/' });
  await putFor({ runtime, tables, keys }, 2, 4_000);
  expect(tables.map((table) => table.stats().lostSplits)).toEqual(tables.map(() => 0));
  expect(leaves()).toBe(1);
});
