// The price of the limit in flight where only the network takes time, with its tail.
import { expect, test, vi } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore } from '../../../shared/store/index.ts';
import { AdaptiveLimit } from '../../../shared/store/io/adaptive-limit.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { normal } from '../../support/normal.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const RECORDS = 300;
/** Operations that are measured, and those before, while the limit climbs. */
const OPERATIONS = 3_000;
const WARM_UP = 1_000;

const CALLERS = 64;

type Work = 'get' | 'put';
type Draw = () => number;
/** Lets a request take its time. */
type Way = (runtime: VirtualRuntime, draw: Draw) => () => Promise<void>;

const lognormal: Way = (runtime, draw) => () => runtime.sleep(6 * Math.exp(0.6 * normal(draw)));
const heavy: Way = (runtime, draw) => () => runtime.sleep(6 * Math.exp(normal(draw)) * (draw() < 0.01 ? 10 : 1));
/** One request a read and a container's write, as on Azure: there the limit matters most. */
function far(driver: Driver, pass: () => Promise<void>): Driver {
  return {
    ...driver,
    limits: { ...driver.limits, readsMax: 1, lane: (id) => id },
    read: async (requests, options) => {
      await pass();
      return driver.read(requests, options);
    },
    write: async (writes, options) => {
      await pass();
      return driver.write(writes, options);
    },
  };
}

/** Operations a second, each of which its caller waits for, by a clock that no work moves. */
async function perSecond(work: Work, way: Way, seed: number): Promise<number> {
  const runtime = new VirtualRuntime();
  const draw = seededRandom(CALLERS + seed);
  const near = memoryDriver();
  const items = Array.from({ length: RECORDS }, (_, index) => ({ key: `k${index}`, value: 0 }));
  const loading = openStore({ driver: near, runtime });
  await runtime.run(loading.table<number>('t', { containers: 64 }).then((table) => table.putMany(items)));
  const store = openStore({ driver: far(near, way(runtime, draw)), runtime });
  const table = await runtime.run(store.table<number>('t'));
  await runtime.run(table.getMany(items.map(({ key }) => key)));
  let left = WARM_UP + OPERATIONS;
  let [begunMs, endMs] = [0, 0];
  const call = async (): Promise<void> => {
    while (left > 0) {
      if (left === OPERATIONS) begunMs = runtime.monotonicMs();
      left -= 1;
      // Not when the last reply came: one that is late would count more than all others.
      if (left === 0) endMs = runtime.monotonicMs();
      const { key } = items[Math.floor(draw() * RECORDS)]!;
      await (work === 'get' ? table.get(key) : table.put(key, left));
    }
  };
  await runtime.run(Promise.all(Array.from({ length: CALLERS }, call)));
  return OPERATIONS / ((endMs - begunMs) / 1_000);
}

/** The rate with the limit over that without one. */
async function shareLeft(work: Work, way: Way, seed: number): Promise<number> {
  const limited = await perSecond(work, way, seed);
  const run = vi.spyOn(AdaptiveLimit.prototype, 'run').mockImplementation(async (send) => void (await send()));
  const unlimited = await perSecond(work, way, seed).finally(() => run.mockRestore());
  return limited / unlimited;
}

// Puts have no heavy tail: one slow commit holds up all who want its container, limit or not.
test.each([
  ['get', 'a lognormal tail (median 6 ms, sigma 0.6)', lognormal],
  ['put', 'a lognormal tail (median 6 ms, sigma 0.6)', lognormal],
  ['get', 'a heavy tail (sigma 1, one in a hundred ten times slower)', heavy],
] as const)('the limit costs 64 callers of %s no tenth of what none brings, with %s', async (work, _, way) => {
  // Shares lie 2 to 4 % apart (standard deviation, 12 draws of puts).
  const shares = [await shareLeft(work, way, 0)];
  for (let seed = 1_000; shares[0]! <= 0.9 && seed < 5_000; seed += 1_000)
    shares.push(await shareLeft(work, way, seed));
  expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThan(0.9);
});

test('never more reads, nor more commits, are under way than the driver has connections for', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver({ limits: { readsMax: 1, inFlightMax: 12, lane: (id) => id } });
  const [now, most] = [
    { read: 0, write: 0 },
    { read: 0, write: 0 },
  ];
  const counted = (kind: 'read' | 'write') => async (): Promise<void> => {
    most[kind] = Math.max(most[kind], (now[kind] += 1));
    await runtime.sleep(10);
    now[kind] -= 1;
  };
  const driver: Driver = {
    ...near,
    read: (requests, options) => counted('read')().then(() => near.read(requests, options)),
    write: (writes, options) => counted('write')().then(() => near.write(writes, options)),
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t', { containers: 64 }));
  const call = async (caller: number): Promise<void> => {
    for (let count = 0; count < 40; count += 1) {
      await table.put(`k${caller}-${count}`, count);
      await table.get(`k${caller}-${count}`);
    }
  };
  await runtime.run(Promise.all(Array.from({ length: 60 }, (_, caller) => call(caller))));
  expect(most).toEqual({ read: 12, write: 12 });
});
