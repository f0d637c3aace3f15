import { expect, test } from 'vitest';
import { Scheduler } from '../../../shared/lab/kit/virtual-time.ts';

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
