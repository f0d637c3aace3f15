// The closed loop: each caller waits for its reply, and all stop together. A failure is thrown once
// nothing is in flight.
import { expect, test } from 'vitest';
import { afterCalls, afterMs, closedLoop, eachInFlight } from '../../../shared/lab/load/closed-loop.ts';

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

test.each([
  [12, 4, [3, 3, 3, 3]],
  [2, 2, [1, 1]],
  [0, 0, []],
])(
  'four callers make %i calls, %i at a time, each again as soon as it has its reply',
  async (calls, most, byCaller) => {
    const { seen, call } = answering();
    await closedLoop(4, afterCalls(calls), call);
    expect(seen).toEqual({ now: 0, most, byCaller });
  },
);

test('a loop of so much time begins with itself, and begins no call after that', async () => {
  let nowMs = 1_000;
  const calls: number[] = [];
  const isOver = afterMs(500, { monotonicMs: () => nowMs });
  nowMs = 3_000;
  await closedLoop(1, isOver, async () => {
    nowMs += 200;
    calls.push(nowMs);
  });
  expect(calls).toEqual([3_200, 3_400, 3_600]);
});

test('after a failure nobody calls again, and it is told when the others have their replies', async () => {
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
])('each item is handed over once, %d at a time at most', async (callers, most) => {
  const { seen, call } = answering();
  const handed: number[] = [];
  await eachInFlight([1, 2, 3, 4, 5], callers, async (item) => {
    handed.push(item);
    await call();
  });
  expect(handed).toEqual([1, 2, 3, 4, 5]);
  expect(seen.most).toBe(most);
});
