// How fast a process sends once the provider turns requests away: as fast as they are taken.
import { expect, test } from 'vitest';
import { Pace } from '../../../shared/store/io/pace.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const REPLY_MS = 10;
const CALLERS = 32;

/** It takes `perMs` requests a millisecond, and as many at once as half a second brings. */
class Account {
  readonly #perMs: number;
  #room: number;
  #sinceMs = 0;

  constructor(perMs: number) {
    this.#perMs = perMs;
    this.#room = perMs * 500;
  }

  takes(nowMs: number): boolean {
    this.#room = Math.min(this.#perMs * 500, this.#room + (nowMs - this.#sinceMs) * this.#perMs);
    this.#sinceMs = nowMs;
    if (this.#room < 1) return false;
    this.#room -= 1;
    return true;
  }
}

/** Each of 32 callers of each pace sends one request after another; counts of the last half. */
async function sendFor(ms: number, account: Account, runtime: VirtualRuntime, paces: readonly Pace[]) {
  const endMs = runtime.monotonicMs() + ms;
  const taken = paces.map(() => 0);
  let refused = 0;
  const call = async (pace: Pace, at: number): Promise<void> => {
    while (runtime.monotonicMs() < endMs) {
      await pace.turn();
      const isTaken = account.takes(runtime.monotonicMs());
      await runtime.sleep(REPLY_MS);
      pace.note(!isTaken);
      if (runtime.monotonicMs() < endMs - ms / 2) continue;
      if (isTaken) taken[at]! += 1;
      else refused += 1;
    }
  };
  const calls = paces.flatMap((pace, at) => Array.from({ length: CALLERS }, () => call(pace, at)));
  await runtime.run(Promise.all(calls));
  return { taken, sum: taken.reduce((sum, each) => sum + each, 0), refused };
}

function isHeldUp(pace: Pace): boolean {
  return [pace.turn(), pace.turn()].some((turn) => turn !== undefined);
}

test('nothing waits before a request was refused', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await sendFor(10_000, new Account(Infinity), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(false);
});

test('at the limit of an account eight processes get all that it gives, few requests in vain, and none starves', async () => {
  const runtime = new VirtualRuntime();
  const paces = Array.from({ length: 8 }, () => new Pace(runtime));
  const { taken, sum, refused } = await sendFor(20_000, new Account(1), runtime, paces);
  expect(sum).toBeGreaterThan(0.97 * 10_000);
  expect(refused).toBeLessThan(0.1 * sum);
  expect(Math.min(...taken)).toBeGreaterThan(0.5 * (sum / paces.length));
});

test('when the account takes more again, the pace rises, and ends where nobody needs it', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await sendFor(5_000, new Account(0.5), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(true);
  await sendFor(30_000, new Account(Infinity), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(false);
});

test('a provider that refuses all is asked no more than fifty times a second', async () => {
  const runtime = new VirtualRuntime();
  const { refused } = await sendFor(20_000, new Account(0), runtime, [new Pace(runtime)]);
  expect(refused).toBeLessThanOrEqual(10 * 50 + CALLERS);
  expect(refused).toBeGreaterThan(0);
});

test('replies before and after a rest are not taken for a slow time', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  for (let reply = 0; reply < 15; reply += 1) pace.note(false);
  await runtime.run(runtime.sleep(60_000));
  pace.note(true);
  expect(isHeldUp(pace)).toBe(false);
});
