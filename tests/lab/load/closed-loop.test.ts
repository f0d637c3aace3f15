import { expect, test } from 'vitest';
import { closedLoop, eachInFlight } from '../../../shared/lab/load/loops.ts';

/** Calls that the next turn of the event loop answers, with counts of those in flight. */
function answering() {
  const seen = { now: 0, most: 0, byCaller: [] as number[] };
  const call = async (caller = 0): Promise<void> => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    seen.byCaller[caller] = (seen.byCaller[caller] ?? 0) + 1;
    await new Promise(setImmediate);
    seen.now -= 1;
  };
  return { seen, call };
}

/** Is over after so many calls of all callers together. */
const afterCalls = (count: number) => {
  let left = count;
  return () => left-- <= 0;
};

test.each([
  [12, 4, [3, 3, 3, 3]],
  [2, 2, [1, 1]],
  [0, 0, []],
])('four callers make %i calls, %i at a time, each again once it has its reply', async (calls, most, byCaller) => {
  const { seen, call } = answering();
  await closedLoop(4, afterCalls(calls), call);
  expect(seen).toEqual({ now: 0, most, byCaller });
});

test('after a call failed nobody calls again, and the loop rejects once the others have their replies', async () => {
  let calls = 0;
  const replies: number[] = [];
  const loop = closedLoop(3, afterCalls(100), async (caller) => {
    calls += 1;
    if (caller > 0) await new Promise(setImmediate);
    replies.push(caller);
    if (caller < 2) throw new Error(`no ${caller}`);
  });
  await expect(loop).rejects.toThrow('no 0');
  expect([calls, replies]).toEqual([3, [0, 1, 2]]);
});

test.each([
  [2, 2],
  [Infinity, 5],
])('each item gets one call, with at most %d calls in flight', async (callers, most) => {
  const { seen, call } = answering();
  const handed: number[] = [];
  await eachInFlight([1, 2, 3, 4, 5], callers, async (item) => {
    handed.push(item);
    await call();
  });
  expect(handed).toEqual([1, 2, 3, 4, 5]);
  expect(seen.most).toBe(most);
});
