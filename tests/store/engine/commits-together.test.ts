// Commits of several containers share requests, and callers may leave a group that waits.
import { expect, test } from 'vitest';
import { opened } from '../rules/table-steps.ts';
import { isWriteOf, TINY, World } from '../rules/world.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Runtime } from '../../../shared/store/contract/runtime.ts';
import { openStore, systemRuntime } from '../../../shared/store/index.ts';

/** A table of several leaves, a function that puts all its records at once, and write sizes. */
async function manyLeaves() {
  const { world, process, table } = await opened({ containers: 8 });
  const keys = Array.from({ length: 40 }, (_, number) => `key${number}`);
  const putAll = (value: string) => world.run(Promise.all(keys.map((key) => table.put(key, value))));
  await world.run(table.putMany(keys.map((key) => ({ key, value: 'old' }))));
  const takeWrites = () => process.takeCalls().flatMap((call) => (call.kind === 'write' ? [call.writes.length] : []));
  takeWrites();
  const expectAll = async (value: string): Promise<void> => {
    const found = await world.run(table.getMany(keys));
    expect(found).toMatchObject(keys.map(() => ({ status: 'found', value })));
  };
  return { process, putAll, takeWrites, expectAll };
}

test('commits of several containers share a request', async () => {
  const { putAll, takeWrites, expectAll } = await manyLeaves();
  await putAll('new');
  const batches = takeWrites();
  expect(batches.length).toBeLessThan(4);
  expect(Math.max(...batches)).toBeGreaterThan(4);
  await expectAll('new');
});

test('rule 1: every container of a batch that failed is settled by reading, and goes alone for some commits', async () => {
  const { process, putAll, takeWrites, expectAll } = await manyLeaves();
  process.once(isWriteOf('patch'), { fail: 'unavailable' });
  await putAll('new');
  const [failed, ...later] = takeWrites();
  expect(failed).toBeGreaterThan(4);
  expect(later.slice(0, failed)).toEqual(Array.from({ length: failed! }, () => 1));
  await expectAll('new');
  for (let round = 0; round < 11; round += 1) await putAll('newer');
  takeWrites();
  await putAll('newest');
  expect(Math.max(...takeWrites())).toBeGreaterThan(4);
});

test('calls that end while their group is evaluated cost the others one round, not one each', async () => {
  const ending = Array.from({ length: 20 }, () => new AbortController());
  let nowMs = 0;
  let isArmed = false;
  const runtime: Runtime = {
    ...systemRuntime,
    // The clock gains 11 ms whenever it is read, so that work pauses wherever it can.
    monotonicMs: () => (nowMs += 11),
    nextTurn: () => {
      if (isArmed) ending.shift()?.abort();
      return systemRuntime.nextTurn();
    },
  };
  const store = openStore({ driver: memoryDriver(), runtime, timeoutMs: 1_000_000 });
  const table = await store.table<number>('t');
  const first = table.put('first', 1);
  let runs = 0;
  const survivor = table.update('survivor', () => (runs += 1));
  const others = Promise.allSettled(
    ending.map(({ signal }, index) => table.update(`other${index}`, () => 1, { signal })),
  );
  isArmed = true;
  await Promise.all([first, survivor]);
  isArmed = false;
  expect(runs).toBeLessThan(5);
  await others;
  await store.close();
});

test('calls that end while their group waits for room cost the others one wait, not one each', async () => {
  const world = new World({ limits: { ...TINY, inFlightMax: 1 } });
  const { process, store, table } = await opened<number>({}, world);
  const others = await world.run(Promise.all(['a', 'b'].map((name) => store.table<number>(name))));
  process.rule(async (call) => {
    if (call.kind === 'write') await world.runtime.sleep(100);
    return undefined;
  });
  const calm = new AbortController();
  const busy = others.map(async (other) => {
    for (let count = 0; !calm.signal.aborted; count += 1) await other.put('k', count);
  });
  const begunMs = world.runtime.monotonicMs();
  const leaving = Array.from({ length: 20 }, (_, at) => table.put(`k${at}`, at, { timeoutMs: 50 + 100 * at }));
  const left = Promise.allSettled(leaving);
  await world.run(table.put('survivor', 1));
  expect(world.runtime.monotonicMs() - begunMs).toBeLessThan(1_000);
  calm.abort();
  await world.run(Promise.all([left, ...busy]));
});
