import { expect, test } from 'vitest';
import { Scheduler } from '../../../shared/lab/kit/virtual-time.ts';

test('events happen in order of time, and code that waits for one has run before the next', async () => {
  const scheduler = new Scheduler(1);
  const seen: string[] = [];
  const sleeper = scheduler.after(2).then(async () => {
    seen.push(`wakes at ${scheduler.nowMs}`);
    await Promise.resolve();
    await Promise.resolve();
    seen.push('has run');
  });
  scheduler.at(3, () => seen.push('at 3'));
  scheduler.at(1, () => seen.push('at 1'));
  await scheduler.run(Promise.all([sleeper, scheduler.after(4)]), 100);
  expect(seen).toEqual(['at 1', 'wakes at 2', 'has run', 'at 3']);
  expect(scheduler.steps).toBe(4);
});

test('time passes by as much as was asked for, and no later event happens', async () => {
  const scheduler = new Scheduler(1);
  const seen: number[] = [];
  for (const ms of [1, 2, 3]) scheduler.at(ms, () => seen.push(ms));
  await scheduler.pass(2);
  expect(seen).toEqual([1, 2]);
  expect(scheduler.nowMs).toBe(2);
});

test('a cancelled event does not happen, and an event in the past happens now', async () => {
  const scheduler = new Scheduler(1);
  const seen: string[] = [];
  scheduler.at(1, () => seen.push('taken back'))();
  await scheduler.pass(5);
  scheduler.at(2, () => seen.push(`late at ${scheduler.nowMs}`));
  scheduler.at(Number.NaN, () => seen.push('no time is now'));
  await scheduler.pass(0);
  expect(seen.toSorted()).toEqual(['late at 5', 'no time is now']);
});

test('work that no event can end is an error, and so is work that never ends', async () => {
  const never = new Promise(() => undefined);
  await expect(new Scheduler(1).run(never, 100)).rejects.toThrow('stuck');
  const scheduler = new Scheduler(1);
  const again = (): void => void scheduler.at(scheduler.nowMs + 1, again);
  again();
  await expect(scheduler.run(never, 100)).rejects.toThrow('no end after 100 events');
});
