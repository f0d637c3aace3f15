// A read whose reply may be lost is sent once more, and no more.
import { expect, test } from 'vitest';
import { Deadlines } from '../../../shared/store/io/deadline.ts';
import { Hedge } from '../../../shared/store/io/hedge.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const NEVER = 3_600_000;

/** A hedge, and requests that are answered by their number after so many ms, or fail. */
function hedged(answersMs: readonly number[], failing: readonly number[] = []) {
  const runtime = new VirtualRuntime();
  const hedge = new Hedge(new Deadlines(runtime, 10_000));
  const sentMs: number[] = [];
  const send = async (): Promise<number> => {
    const number = sentMs.push(runtime.monotonicMs());
    await runtime.sleep(answersMs[number - 1]!);
    if (failing.includes(number)) throw new Error(`${number} fails`);
    return number;
  };
  return { runtime, sentMs, ask: (bytes = 0) => hedge.ask(send, bytes) };
}

test.each<
  [what: string, answersMs: number[], failing: number[], reply: number | string, sentMs: number[], tookMs: number]
>([
  ['that comes soon is the only one', [999], [], 1, [0], 999],
  ['that is lost is asked for again after a second', [NEVER, 20], [], 2, [0, 1_000], 1_020],
  ['that comes after all, but first, is taken', [1_010, 500], [], 1, [0, 1_000], 1_010],
  ['that fails soon is not asked for again', [20], [1], '1 fails', [0], 20],
  ['that fails late leaves it to the second', [1_010, 500], [1], 2, [0, 1_000], 1_500],
  ['that comes although the second fails is taken', [1_500, 20], [2], 1, [0, 1_000], 1_500],
  ['that fails as the second does tells its own error', [1_500, 20], [1, 2], '1 fails', [0, 1_000], 1_500],
])('a reply %s', async (_what, answersMs, failing, reply, sentMs, tookMs) => {
  const { runtime, ask, ...sent } = hedged(answersMs, failing);
  const told = ask().catch((error: Error) => error.message);
  expect(await runtime.run(told)).toBe(reply);
  expect(runtime.monotonicMs()).toBe(tookMs);
  expect(sent.sentMs).toEqual(sentMs);
});

test('a large reply is given the time of a slow link', async () => {
  const { runtime, ask, sentMs } = hedged([60_000]);
  expect(await runtime.run(ask(1024 * 1024))).toBe(1);
  expect(sentMs.length).toBe(1);
});

test('of many that are lost one is asked for again at a time', async () => {
  const { runtime, ask, sentMs } = hedged([4_000, 4_000, 4_000, 2_000, 4_000, 10]);
  const first = [ask(), ask(), ask()];
  await runtime.run(Promise.any(first));
  expect(sentMs).toEqual([0, 0, 0, 1_000]);
  await runtime.run(Promise.all(first));
  expect(await runtime.run(ask())).toBe(6);
  expect(sentMs.length).toBe(6);
});
