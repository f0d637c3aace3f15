// Reads and lists are tried again where that may help, within their time. Writes are not.
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { type Driver, SILENCE_MS } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { withRetry } from '../../../shared/store/io/requests.ts';
import { entityId, entityVersion } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const THROTTLED = new StoreError('throttled', 'said by a test');
const THROTTLED_LONG = new StoreError('throttled', 'said by a test', { retryAfterMs: 3_000 });
const UNAVAILABLE = new StoreError('unavailable', 'said by a test');
const DENIED = new StoreError('unavailable', 'said by a test', { retryable: false });

/** A driver whose first calls end in these errors after `tookMs`, and the time each was given. */
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
  const { driver: retrying } = withRetry(driver, runtime, () => throttled.push(true));
  return { retrying, timeoutsMs, runtime, throttled };
}

const CALLS: readonly [name: string, call: (driver: Driver, timeoutMs: number) => Promise<unknown>][] = [
  ['read', (driver, timeoutMs) => driver.read([{ id: entityId('a'), parts: 'all' }], { timeoutMs })],
  ['list', (driver, timeoutMs) => driver.list('', undefined, 1, { timeoutMs })],
];

describe.each(CALLS)('a %s', (_, call) => {
  test.each<[string, Error, [tookMs: number, timeoutMs: number], [least: number, most: number, leastMs: number]]>([
    ['that goes on failing is tried four times', UNAVAILABLE, [0, 10_000], [4, 4, 0]],
    ['that fails for good is tried once', DENIED, [0, 10_000], [1, 1, 0]],
    ['that is misuse is tried once', new TypeError('misuse'), [0, 10_000], [1, 1, 0]],
    ['that is never answered begins no try after ten seconds', UNAVAILABLE, [SILENCE_MS, 60_000], [3, 3, 0]],
    ['that is throttled is tried for ten seconds, at growing intervals', THROTTLED, [0, 60_000], [6, 9, 3_001]],
    ['that is throttled for longer than its time is tried once', THROTTLED_LONG, [0, 2_000], [1, 1, 0]],
  ])('%s', async (_what, error, [tookMs, timeoutMs], [least, most, leastMs]) => {
    const { retrying, timeoutsMs, runtime } = failing(Array<Error>(99).fill(error), tookMs);
    await expect(runtime.run(call(retrying, timeoutMs))).rejects.toBe(error);
    expect(timeoutsMs.length).toBeGreaterThanOrEqual(least);
    expect(timeoutsMs.length).toBeLessThanOrEqual(most);
    expect(runtime.monotonicMs()).toBeGreaterThanOrEqual(leastMs);
  });

  test('that fails three times succeeds at the fourth try, and onThrottled hears of its throttled tries only', async () => {
    const { retrying, timeoutsMs, runtime, throttled } = failing([THROTTLED, UNAVAILABLE, THROTTLED]);
    await runtime.run(call(retrying, 60_000));
    expect([timeoutsMs.length, throttled.length]).toEqual([4, 2]);
  });

  test('gives each try what is left of its time, and begins none after it', async () => {
    const { retrying, timeoutsMs, runtime } = failing([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE], 480);
    await expect(runtime.run(call(retrying, 1_000))).rejects.toBe(UNAVAILABLE);
    expect(timeoutsMs).toEqual([1_000, expect.toSatisfy((ms: number) => ms <= 520)]);
  });

  test('that is throttled waits for as long as the provider asks', async () => {
    const { retrying, timeoutsMs, runtime } = failing([THROTTLED_LONG]);
    await runtime.run(call(retrying, 10_000));
    expect(runtime.monotonicMs()).toBeGreaterThanOrEqual(3_000);
    expect(timeoutsMs).toHaveLength(2);
  });
});

test('rule 2: a write or removal whose outcome is unknown is sent once', async () => {
  const { retrying, timeoutsMs, runtime } = failing([]);
  await runtime.run(retrying.write([{ kind: 'insert', id: entityId('a'), parts: [] }], { timeoutMs: 1_000 }));
  await runtime.run(retrying.remove([{ id: entityId('a'), version: entityVersion('v') }], { timeoutMs: 1_000 }));
  expect(timeoutsMs).toEqual([1_000, 1_000]);
});

describe.each([[undefined], [[]]])('a driver that answers with %j', (nothing) => {
  const answering = async (): Promise<never> => nothing as never;
  const runtime = new VirtualRuntime();
  const { driver } = withRetry(
    { ...memoryDriver(), read: answering, write: answering, remove: answering },
    runtime,
    () => undefined,
  );
  const [id, version] = [entityId('a'), entityVersion('v')];

  test('makes a read fail, and leaves the outcome of a write unknown', async () => {
    await expect(driver.read([{ id, parts: 'all' }], { timeoutMs: 9 })).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
    });
    const unknown = [{ kind: 'unknown', reason: 'other' }];
    expect(await driver.write([{ kind: 'insert', id, parts: [] }], { timeoutMs: 9 })).toEqual(unknown);
    expect(await driver.remove([{ id, version }], { timeoutMs: 9 })).toEqual(unknown);
  });

  test('does not keep the process from yielding, however often it is asked', async () => {
    const before = runtime.turns;
    for (let asked = 0; asked < 5_000; asked += 1) await driver.remove([{ id, version }], { timeoutMs: 9 });
    expect(runtime.turns - before).toBeGreaterThanOrEqual(4);
  });
});
