// Waits with a deadline: what the caller gets, and that nothing stays watched afterwards.
import { expect, test } from 'vitest';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

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
