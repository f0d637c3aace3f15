// Waits with a deadline: what the caller gets, and that nothing stays watched afterwards. An
// administrative call reports "nothing was written" only if that is certain.
import { expect, test } from 'vitest';
import { CallDriver, Deadlines } from '../../../shared/store/io/deadline.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { WriteOutcome } from '../../../shared/store/contract/driver.ts';
import { StoreError, type StoreErrorCode } from '../../../shared/store/contract/errors.ts';
import { entityId } from '../../support/ids.ts';

function deadlines() {
  const runtime = new VirtualRuntime();
  return { runtime, all: new Deadlines(runtime, 30_000) };
}

test('the result or error of work that ends in time reaches the caller', async () => {
  const { all } = deadlines();
  expect(await all.within(1_000, Promise.resolve('done'))).toBe('done');
  await expect(all.within(1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(all.count).toBe(0);
});

test('work that takes longer goes on, and its later failure is ignored', async () => {
  const { runtime, all } = deadlines();
  const work = Promise.withResolvers<string>();
  const waiting = all.within(1_000, work.promise);
  await runtime.advance(999);
  expect(all.count).toBe(1);
  await runtime.advance(1);
  expect(await waiting).toBeUndefined();
  work.reject(new Error('too late to matter'));
  await runtime.advance(1);
  expect(all.count).toBe(0);
});

test('a deadline that passes while the call begins ends the call, although no timer fires any more', async () => {
  // Each reading of the clock takes longer than the call has.
  let looks = 0;
  const clock = { monotonicMs: () => (looks += 1), watch: () => new Promise<void>(() => {}) };
  const all = new Deadlines(Object.assign(new VirtualRuntime(), clock), 30_000);
  for (const timeoutMs of [0.5, 1.5, 2.5]) {
    const ended = all.bound(all.begin({ timeoutMs }), async () => 'done').catch((error: Error) => error.name);
    expect(['done', 'TimeoutError']).toContain(await ended);
  }
});

/** The code that the caller hears if the call fails with `code` after these write outcomes. */
async function heard(code: StoreErrorCode, ...outcomes: readonly WriteOutcome[]): Promise<unknown> {
  const script = [...outcomes];
  const call = new CallDriver(
    { ...memoryDriver(), write: async () => [script.shift()!] },
    new Deadlines(new VirtualRuntime(), 1_000),
  );
  for (const _ of outcomes)
    await call.driver.write([{ kind: 'insert', id: entityId('a'), parts: [] }], { timeoutMs: 1_000 });
  const error = call.failure(new StoreError(code, 'said by a test'));
  return error instanceof StoreError ? error.code : error;
}

const CODES = ['aborted', 'throttled', 'unavailable', 'too_large', 'invalid'] as const;

test.each(CODES)('the error %s stays if all writes were certainly refused, and else becomes unknown', async (code) => {
  for (const reason of ['denied', 'limit', 'invalid', 'unsent'] as const)
    expect(await heard(code, { kind: 'refused', reason })).toBe(code);
  expect(await heard(code, { kind: 'unknown', reason: 'other' }, { kind: 'refused', reason: 'limit' })).toBe('unknown');
  for (const reason of ['condition', 'throttled'] as const)
    expect(await heard(code, { kind: 'refused', reason })).toBe('unknown');
});

test('an error that does not say "nothing was written" stays after a write', async () => {
  for (const code of ['conflict', 'not_found', 'corrupt'] as const)
    expect(await heard(code, { kind: 'unknown', reason: 'other' })).toBe(code);
});
