// A read whose reply may be lost is sent a second time, and never a third.
import { expect, test } from 'vitest';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { Hedge } from '../../../shared/store/io/reads.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const NEVER = 3_600_000;

/** A hedge, and a `send` whose requests fail or are answered by their number, after these times. */
function hedged(answersMs: readonly number[], failing: readonly number[] = [], isThrottled = () => false) {
  const runtime = new VirtualRuntime();
  const deadlines = new Deadlines(runtime, 10_000);
  const hedge = new Hedge(deadlines);
  const sentMs: number[] = [];
  const send = async (): Promise<number> => {
    const number = sentMs.push(runtime.monotonicMs());
    await runtime.sleep(answersMs[number - 1]!);
    if (failing.includes(number)) throw new Error(`${number} fails`);
    return number;
  };
  return { runtime, deadlines, sentMs, ask: (bytes = 0) => hedge.ask(send, bytes, isThrottled) };
}

test.each([
  { what: 'comes within a second', answersMs: [999], told: 1, sentMs: [0], tookMs: 999 },
  { what: 'is lost', answersMs: [NEVER, 20], told: 2, sentMs: [0, 1_000], tookMs: 1_020 },
  { what: 'comes late, but first', answersMs: [1_010, 500], told: 1, sentMs: [0, 1_000], tookMs: 1_010 },
  { what: 'fails soon', answersMs: [20], failing: [1], told: '1 fails', sentMs: [0], tookMs: 20 },
  { what: 'fails late', answersMs: [1_010, 500], failing: [1], told: 2, sentMs: [0, 1_000], tookMs: 1_500 },
  {
    what: 'comes after the second failed',
    answersMs: [1_500, 20],
    failing: [2],
    told: 1,
    sentMs: [0, 1_000],
    tookMs: 1_500,
  },
  {
    what: 'fails after the second failed',
    answersMs: [1_500, 20],
    failing: [1, 2],
    told: '1 fails',
    sentMs: [0, 1_000],
    tookMs: 1_500,
  },
])(
  'if the first reply $what, requests are sent at $sentMs ms and the caller hears $told',
  async ({ answersMs, failing = [], told, sentMs, tookMs }) => {
    const { runtime, ask, ...sent } = hedged(answersMs, failing);
    expect(await runtime.run(ask().catch((error: Error) => error.message))).toBe(told);
    expect(runtime.monotonicMs()).toBe(tookMs);
    expect(sent.sentMs).toEqual(sentMs);
  },
);

test('a large reply has the time of a slow link before it is asked for again', async () => {
  const { runtime, ask, sentMs } = hedged([60_000]);
  expect(await runtime.run(ask(1024 * 1024))).toBe(1);
  expect(sentMs.length).toBe(1);
});

test('a request that waits because it was throttled is not sent a second time', async () => {
  let isThrottled = false;
  const { runtime, ask, sentMs } = hedged([4_000, NEVER, 20], [], () => isThrottled);
  void runtime.sleep(500).then(() => (isThrottled = true));
  expect(await runtime.run(ask())).toBe(1);
  isThrottled = false;
  expect(await runtime.run(ask())).toBe(3);
  expect(sentMs).toEqual([0, 4_000, 5_000]);
});

test('of several late replies only one at a time is asked for again', async () => {
  const { runtime, ask, sentMs } = hedged([4_000, 4_000, 4_000, 2_000, 4_000, 10]);
  const first = [ask(), ask(), ask()];
  await runtime.run(Promise.any(first));
  expect(sentMs).toEqual([0, 0, 0, 1_000]);
  await runtime.run(Promise.all(first));
  expect(await runtime.run(ask())).toBe(6);
  expect(sentMs.length).toBe(6);
});

test('no reply is asked for again once the store is closed', async () => {
  const { runtime, deadlines, ask, sentMs } = hedged([4_000]);
  const asked = ask();
  deadlines.close(new StoreError('aborted', 'said by a test'));
  expect(await runtime.run(asked)).toBe(1);
  expect(sentMs).toEqual([0]);
});
