// Waiting for the clouds, on a clock of the test's own.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../../infra/plugin/context/context.ts';
import { Interrupted } from '../../../infra/plugin/context/tools.ts';
import { patiently } from '../../../infra/plugin/stack/patience.ts';

const context = { log: () => {} } as unknown as Context;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

test('tries again until it succeeds', async () => {
  const attempt = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new Error('403'))
    .mockRejectedValueOnce(new Error('403'));
  const done = patiently(context, 'it failed', attempt.mockResolvedValueOnce('done'));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(await done).toBe('done');
});

test('gives up when the time is up, and says what went wrong last', async () => {
  const attempt = vi.fn<() => Promise<string>>().mockRejectedValue(new Error('403'));
  const failure = patiently(context, 'it failed', attempt, { patienceMs: 60_000 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await failure).toMatchObject({ message: 'it failed: 403' });
  expect(attempt).toHaveBeenCalledTimes(7);
});

test('does not try again what the user interrupted', async () => {
  const attempt = vi.fn<() => Promise<string>>().mockRejectedValue(new Interrupted('az was interrupted'));
  await expect(patiently(context, 'it failed', attempt)).rejects.toThrow('az was interrupted');
  expect(attempt).toHaveBeenCalledTimes(1);
});
