// Reads and lists are tried again where that may help, never longer than the call may take. Writes
// and removals are not.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type Driver, SILENCE_MS } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { withRetry } from '../../../shared/store/io/retry.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { entityId, entityVersion } from '../../support/ids.ts';

const THROTTLED = new StoreError('throttled', 'said by a test');
const UNAVAILABLE = new StoreError('unavailable', 'said by a test');
const DENIED = new StoreError('unavailable', 'said by a test', { retryable: false });

/**
 * A driver whose first calls end in these errors, after the time they take, and the time each call
 * was given.
 */
function failing(errors: readonly (Error | undefined)[], tookMs = 0) {
  const runtime = new VirtualRuntime();
  const timeoutsMs: number[] = [];
  const memory = memoryDriver();
  const fail = async (timeoutMs: number): Promise<void> => {
    timeoutsMs.push(timeoutMs);
    await runtime.sleep(tookMs);
    const error = errors[timeoutsMs.length - 1];
    if (error !== undefined) throw error;
  };
  const driver: Driver = {
    ...memory,
    read: async (requests, options) => (await fail(options.timeoutMs), memory.read(requests, options)),
    list: async (prefix, cursor, count, options) => (
      await fail(options.timeoutMs),
      memory.list(prefix, cursor, count, options)
    ),
    write: async (_, { timeoutMs }) => (await fail(timeoutMs), [{ kind: 'unknown', reason: 'other' }]),
    remove: async (_, { timeoutMs }) => (await fail(timeoutMs), [{ kind: 'unknown', reason: 'other' }]),
  };
  const throttled: true[] = [];
  const retrying = withRetry(driver, runtime, () => throttled.push(true));
  return { retrying, timeoutsMs, runtime, throttled };
}

const CALLS: readonly [name: string, call: (driver: Driver, timeoutMs: number) => Promise<unknown>][] = [
  ['read', (driver, timeoutMs) => driver.read([{ id: entityId('a'), parts: 'all' }], { timeoutMs })],
  ['list', (driver, timeoutMs) => driver.list('', undefined, 1, { timeoutMs })],
];

test.each(CALLS)('a %s that fails three times is tried a fourth time', async (_, call) => {
  const { retrying, timeoutsMs, runtime } = failing([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]);
  await runtime.run(call(retrying, 10_000));
  expect(timeoutsMs).toHaveLength(4);
});

test.each(CALLS)('a %s that goes on failing ends with its error after four tries', async (_, call) => {
  const { retrying, timeoutsMs, runtime } = failing(Array.from({ length: 9 }, () => UNAVAILABLE));
  await expect(runtime.run(call(retrying, 10_000))).rejects.toBe(UNAVAILABLE);
  expect(timeoutsMs).toHaveLength(4);
});

test.each(CALLS)('a %s that would be refused again is not tried again', async (_, call) => {
  for (const error of [DENIED, new TypeError('misuse')]) {
    const { retrying, timeoutsMs, runtime } = failing([error]);
    await expect(runtime.run(call(retrying, 10_000))).rejects.toBe(error);
    expect(timeoutsMs).toHaveLength(1);
  }
});

test.each(CALLS)('each try of a %s is given what is left of its time, and none begins after it', async (_, call) => {
  const { retrying, timeoutsMs, runtime } = failing([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE], 480);
  await expect(runtime.run(call(retrying, 1_000))).rejects.toBe(UNAVAILABLE);
  expect(timeoutsMs[0]).toBe(1_000);
  expect(timeoutsMs).toHaveLength(2);
  expect(timeoutsMs[1]).toBeLessThanOrEqual(520);
});

test('rule 2: a write or removal of unknown fate is sent once', async () => {
  const { retrying, timeoutsMs, runtime } = failing([]);
  await runtime.run(retrying.write([{ kind: 'insert', id: entityId('a'), parts: [] }], { timeoutMs: 1_000 }));
  await runtime.run(retrying.remove([{ id: entityId('a'), version: entityVersion('v') }], { timeoutMs: 1_000 }));
  expect(timeoutsMs).toEqual([1_000, 1_000]);
});

test.each(CALLS)('no try of a %s that is never answered begins after ten seconds', async (_, call) => {
  const { retrying, timeoutsMs, runtime } = failing(
    Array.from({ length: 9 }, () => UNAVAILABLE),
    SILENCE_MS,
  );
  await expect(runtime.run(call(retrying, 60_000))).rejects.toBe(UNAVAILABLE);
  expect(timeoutsMs).toHaveLength(3);
});

test.each(CALLS)('a throttled %s waits as the provider asks, unless that is too long', async (_, call) => {
  const throttled = new StoreError('throttled', 'said by a test', { retryAfterMs: 3_000 });
  const { retrying, timeoutsMs, runtime } = failing([throttled]);
  const begunMs = runtime.monotonicMs();
  await runtime.run(call(retrying, 10_000));
  expect(runtime.monotonicMs() - begunMs).toBeGreaterThanOrEqual(3_000);
  expect(timeoutsMs).toHaveLength(2);
  const hurried = failing([throttled]);
  await expect(hurried.runtime.run(call(hurried.retrying, 2_000))).rejects.toBe(throttled);
  expect(hurried.timeoutsMs).toHaveLength(1);
});

test.each(CALLS)('a throttled %s is tried for ten seconds, ever later', async (_, call) => {
  const throttled = new StoreError('throttled', 'said by a test');
  const { retrying, timeoutsMs, runtime } = failing(Array.from({ length: 99 }, () => throttled));
  const begunMs = runtime.monotonicMs();
  await expect(runtime.run(call(retrying, 60_000))).rejects.toBe(throttled);
  expect(timeoutsMs.length).toBeGreaterThan(5);
  expect(timeoutsMs.length).toBeLessThan(10);
  expect(runtime.monotonicMs() - begunMs).toBeGreaterThan(3_000);
});

test.each(CALLS)('each try of a %s that is throttled is told, others are not', async (_, call) => {
  const { retrying, runtime, throttled } = failing([THROTTLED, UNAVAILABLE, THROTTLED]);
  await runtime.run(call(retrying, 60_000));
  expect(throttled).toHaveLength(2);
});
