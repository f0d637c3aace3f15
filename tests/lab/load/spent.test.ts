// Reads both clocks before and after a piece of work.
import { expect, test } from 'vitest';
import { PROCESS_CLOCKS, spentOn } from '../../../shared/lab/load/spent.ts';

test('work took what the clocks moved by while it lasted, and work that fails is no figure', async () => {
  let now = 40;
  const clocks = { monotonicMs: () => now, processorUs: () => 10 * now };
  const work = async (): Promise<void> => {
    await new Promise(setImmediate);
    now += 7;
  };
  expect(await spentOn(work, clocks)).toEqual({ wallMs: 7, processorUs: 70 });
  await expect(spentOn(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('this process spends processor time, in microseconds, on what keeps it busy', async () => {
  const { processorUs } = await spentOn(() => {
    const endMs = performance.now() + 20;
    while (performance.now() < endMs);
  }, PROCESS_CLOCKS);
  expect(processorUs).toBeGreaterThan(0);
});
