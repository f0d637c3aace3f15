// Callers may give up while their group is being evaluated.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Runtime } from '../../../shared/store/contract/runtime.ts';
import { openStore, systemRuntime } from '../../../shared/store/index.ts';

test('calls that end while their group is evaluated cost the others one round, not one each', async () => {
  const ending = Array.from({ length: 20 }, () => new AbortController());
  let nowMs = 0;
  let isArmed = false;
  const runtime: Runtime = {
    ...systemRuntime,
    // Each look at the clock shows 11 ms more, so that work pauses whenever it may.
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
