// Waiting for the clouds, on a clock of the test's own.
import { expect, test, vi } from 'vitest';
import type { Context } from '../../../infra/plugin/context/deploy-context.ts';
import { Interrupted } from '../../../infra/plugin/context/cloud-tools.ts';
import { patiently } from '../../../infra/plugin/stack/patience.ts';
import { testClock } from './stand-ins/clock.ts';

const contextAt = (clock = testClock()) => ({ log: () => {}, clock }) as unknown as Context;

test('a patient call tries again until it succeeds', async () => {
  const clock = testClock();
  const attempt = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new Error('403'))
    .mockRejectedValueOnce(new Error('403'));
  expect(await patiently(contextAt(clock), 'it failed', attempt.mockResolvedValueOnce('done'))).toBe('done');
  expect(clock.waitedMs()).toBe(20_000);
});

test('a patient call gives up when its time is over, with the last error', async () => {
  const attempt = vi.fn<() => Promise<string>>().mockRejectedValue(new Error('403'));
  const patient = patiently(contextAt(), 'it failed', attempt, { patienceMs: 60_000 });
  await expect(patient).rejects.toThrow('it failed: 403');
  expect(attempt).toHaveBeenCalledTimes(7);
});

test('a patient call does not repeat what the user interrupted', async () => {
  const attempt = vi.fn<() => Promise<string>>().mockRejectedValue(new Interrupted('az was interrupted'));
  await expect(patiently(contextAt(), 'it failed', attempt)).rejects.toThrow('az was interrupted');
  expect(attempt).toHaveBeenCalledTimes(1);
});
