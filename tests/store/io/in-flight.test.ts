// The price of the limit of requests in flight where only the network takes time, with a tail as
// networks have.
import { describe, expect, test, vi } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { openStore } from '../../../shared/store/index.ts';
import { AdaptiveLimit } from '../../../shared/store/io/adaptive-limit.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const RECORDS = 300;
/** Operations that are measured, and those before, while the limit climbs. */
const OPERATIONS = 3_000;
const WARM_UP = 1_000;

type Draw = () => number;
/** Lets a request take its time. */
type Way = (runtime: VirtualRuntime, draw: Draw) => () => Promise<void>;

const lognormal: Way = (runtime, draw) => () => runtime.sleep(6 * Math.exp(0.6 * normal(draw)));
const heavy: Way = (runtime, draw) => () => runtime.sleep(6 * Math.exp(normal(draw)) * (draw() < 0.01 ? 10 : 1));
const exponential: Way = (runtime, draw) => () => runtime.sleep(3 - 9 * Math.log(1 - draw()));

function normal(draw: Draw): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/**
 * One request a read and a write of its own a container, as on Azure: there the limit matters most.
 */
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

/**
 * Operations a second of so many callers, each of which waits for its own, by a clock that no
 * processor time moves.
 */
async function perSecond({ work, callers, way }: Case, seed: number): Promise<number> {
  const runtime = new VirtualRuntime();
  const draw = seededRandom(callers + seed);
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
  await runtime.run(Promise.all(Array.from({ length: callers }, call)));
  return OPERATIONS / ((endMs - begunMs) / 1_000);
}

interface Case {
  readonly work: 'get' | 'put';
  readonly callers: number;
  readonly way: Way;
}

const WAYS = [
  { name: 'a lognormal tail (median 6 ms, sigma 0.6)', way: lognormal },
  { name: 'an exponential tail (3 ms and 9 ms on average)', way: exponential },
];

/** The rate with the limit over that without one. */
async function shareLeft(each: Case, seed: number): Promise<number> {
  const limited = await perSecond(each, seed);
  const run = vi.spyOn(AdaptiveLimit.prototype, 'run').mockImplementation(async (send) => void (await send()));
  const unlimited = await perSecond(each, seed).finally(() => run.mockRestore());
  return limited / unlimited;
}

/**
 * Shares of single draws lie 2 to 4 % apart (standard deviation, 12 draws of 64 callers that put):
 * where the first falls short, the mean of five counts.
 */
async function expectLimitCostsNoTenth(each: Case): Promise<void> {
  const first = await shareLeft(each, 0);
  if (first > 0.9) return;
  const shares = [first];
  for (let seed = 1_000; seed < 5_000; seed += 1_000) shares.push(await shareLeft(each, seed));
  expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThan(0.9);
}

describe.each(WAYS)('$name', ({ way }) => {
  test.each([
    { work: 'get', callers: 1 },
    { work: 'get', callers: 32 },
    { work: 'get', callers: 64 },
    { work: 'put', callers: 1 },
    { work: 'put', callers: 32 },
    { work: 'put', callers: 64 },
  ] as const)('costs $callers callers of $work no tenth of what no limit at all brings', async (each) => {
    await expectLimitCostsNoTenth({ ...each, way });
  });
});

// Not of puts: one commit that takes a hundred times as long holds up all who want its container,
// limit or not.
test.each([1, 32, 64])(
  'a heavy tail (sigma 1, one in a hundred ten times slower) costs %i callers of get no tenth',
  async (callers) => {
    await expectLimitCostsNoTenth({ work: 'get', callers, way: heavy });
  },
);

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
