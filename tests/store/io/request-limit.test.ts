// How many requests are in flight, how fast they leave, and what is measured of them.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { Pace, type Reply, RequestLimit, Semaphore } from '../../../shared/store/io/requests.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const ANSWERED: Reply = {};
const IN_FLIGHT_MAX = 256;

/** The fate of a request, by how many are in flight with it. */
type Answer = (inFlight: number) => { readonly tookMs: number; readonly reply?: Reply };

interface Limited {
  readonly limit: RequestLimit;
  readonly runtime: VirtualRuntime;
}

/** Lets requests of `callers` be answered one by one: the most in flight, and how long it took. */
async function answer({ limit, runtime }: Limited, count: number, answered: Answer, callers = 256) {
  const begunMs = runtime.monotonicMs();
  let [left, inFlight, most] = [count, 0, 0];
  const send = async (): Promise<Reply> => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    const { tookMs, reply = ANSWERED } = answered(inFlight);
    await runtime.sleep(tookMs);
    inFlight -= 1;
    return reply;
  };
  const call = async (): Promise<void> => {
    for (; left > 0;) {
      left -= 1;
      await limit.run(send);
    }
  };
  await runtime.run(Promise.all(Array.from({ length: callers }, call)));
  return { most, tookMs: runtime.monotonicMs() - begunMs };
}

function newLimit(inFlightMax = IN_FLIGHT_MAX): Limited {
  const runtime = new VirtualRuntime();
  return { runtime, limit: new RequestLimit(runtime, inFlightMax) };
}

test('exactly inFlightMax requests are in flight while more wait', async () => {
  expect((await answer(newLimit(4), 1_000, () => ({ tookMs: 10 }))).most).toBe(4);
});

test('throttled requests slow down all requests that follow', async () => {
  const limited = newLimit();
  let isThrottled = false;
  const half: Answer = () => ({ tookMs: 10, reply: { isThrottled: (isThrottled = !isThrottled) } });
  const { tookMs: freelyMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  await answer(limited, 1_000, half, 32);
  const { tookMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  expect(tookMs).toBeGreaterThan(1.5 * freelyMs);
});

test('a call of run that finds nothing to send frees its place', async () => {
  const limited = newLimit(4);
  const nothing = Array.from({ length: 100 }, () => limited.limit.run(() => Promise.resolve(undefined)));
  await limited.runtime.run(Promise.all(nothing));
  const { most } = await answer(limited, 100, () => ({ tookMs: 10 }));
  expect(most).toBe(4);
});

describe('the measured time', () => {
  test('of a lone request comes from requests that were alone in flight, not from those that queued', async () => {
    const limited = newLimit();
    await answer(limited, 20, () => ({ tookMs: 2 }), 1);
    expect(limited.limit.loneRoundTripMs).toBeCloseTo(2);
    await answer(limited, 1_000, (inFlight) => ({ tookMs: 2 * inFlight }));
    expect(limited.limit.loneRoundTripMs).toBeLessThan(4);
  });

  test('of a lone request hardly changes by a few quick ones, and not by failed ones', async () => {
    const limited = newLimit();
    const draw = seededRandom(3);
    await answer(limited, 200, () => ({ tookMs: draw() < 0.1 ? 1 : 10 }), 1);
    expect(limited.limit.loneRoundTripMs).toBeGreaterThan(4);
    await answer(limited, 200, () => ({ tookMs: 1, reply: { ...ANSWERED, isFailed: true } }), 1);
    expect(limited.limit.loneRoundTripMs).toBeGreaterThan(4);
  });

  test('of all requests is known from the first on, and leaves out failed ones', async () => {
    const limited = newLimit();
    expect(limited.limit.roundTripMs).toBe(Infinity);
    await answer(limited, 1, () => ({ tookMs: 40 }), 1);
    expect(limited.limit.roundTripMs).toBeCloseTo(40);
    await answer(limited, 200, () => ({ tookMs: 10 }), 4);
    expect(limited.limit.roundTripMs).toBeLessThan(12);
    await answer(limited, 50, () => ({ tookMs: 1, reply: { ...ANSWERED, isFailed: true } }), 4);
    expect(limited.limit.roundTripMs).toBeGreaterThanOrEqual(9);
  });

  test('of a lone request is Infinity until several were measured', async () => {
    const limited = newLimit();
    await answer(limited, 3, () => ({ tookMs: 1 }), 1);
    expect(limited.limit.loneRoundTripMs).toBe(Infinity);
  });
});

/** Acquires a place, and notes when it was given. */
function enter(semaphore: Semaphore, name: string, entered: string[]): void {
  void (async () => {
    await semaphore.acquire();
    entered.push(name);
  })();
}

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a semaphore admits its maximum at a time, and the waiting in the order of their calls', async () => {
  const semaphore = new Semaphore(2);
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) enter(semaphore, name, entered);
  await rest();
  expect(entered).toEqual(['a', 'b']);
  expect(semaphore.active).toBe(2);
  semaphore.release();
  // A later caller queues behind those that wait already.
  enter(semaphore, 'e', entered);
  await rest();
  expect(entered).toEqual(['a', 'b', 'c']);
  semaphore.release();
  semaphore.release();
  await rest();
  expect(entered).toEqual(['a', 'b', 'c', 'd', 'e']);
  for (let left = 2; left > 0; left -= 1) semaphore.release();
  expect(semaphore.active).toBe(0);
});

const REPLY_MS = 10;
const CALLERS = 32;

/** An account that accepts `perMs` requests per millisecond, and those of half a second at once. */
class Account {
  readonly #perMs: number;
  #room: number;
  #sinceMs = 0;

  constructor(perMs: number) {
    this.#perMs = perMs;
    this.#room = perMs * 500;
  }

  accepts(nowMs: number): boolean {
    this.#room = Math.min(this.#perMs * 500, this.#room + (nowMs - this.#sinceMs) * this.#perMs);
    this.#sinceMs = nowMs;
    if (this.#room < 1) return false;
    this.#room -= 1;
    return true;
  }
}

/** 32 callers of each pace send one request after another. The counts are of the last half. */
async function sendFor(ms: number, account: Account, runtime: VirtualRuntime, paces: readonly Pace[]) {
  const endMs = runtime.monotonicMs() + ms;
  const taken = paces.map(() => 0);
  let refused = 0;
  const call = async (pace: Pace, at: number): Promise<void> => {
    while (runtime.monotonicMs() < endMs) {
      await pace.turn();
      const isTaken = account.accepts(runtime.monotonicMs());
      await runtime.sleep(REPLY_MS);
      pace.note(!isTaken, runtime.monotonicMs());
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

test('requests leave at once as long as none was throttled', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await sendFor(10_000, new Account(Infinity), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(false);
});

test('eight processes at the limit of an account use all of it and share it, with few throttled requests', async () => {
  const runtime = new VirtualRuntime();
  const paces = Array.from({ length: 8 }, () => new Pace(runtime));
  const { taken, sum, refused } = await sendFor(20_000, new Account(1), runtime, paces);
  expect(sum).toBeGreaterThan(0.97 * 10_000);
  expect(refused).toBeLessThan(0.1 * sum);
  expect(Math.min(...taken)).toBeGreaterThan(0.5 * (sum / paces.length));
});

test('the pace rises when the account accepts more again, and ends once it delays nothing', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  await sendFor(5_000, new Account(0.5), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(true);
  await sendFor(30_000, new Account(Infinity), runtime, [pace]);
  expect(isHeldUp(pace)).toBe(false);
});

test('a provider that throttles every request gets at most fifty per second', async () => {
  const runtime = new VirtualRuntime();
  const { refused } = await sendFor(20_000, new Account(0), runtime, [new Pace(runtime)]);
  expect(refused).toBeLessThanOrEqual(10 * 50 + CALLERS);
  expect(refused).toBeGreaterThan(0);
});

test('replies before and after an idle minute do not make a slow pace', async () => {
  const runtime = new VirtualRuntime();
  const pace = new Pace(runtime);
  for (let reply = 0; reply < 15; reply += 1) pace.note(false, runtime.monotonicMs());
  await runtime.run(runtime.sleep(60_000));
  pace.note(true, runtime.monotonicMs());
  expect(isHeldUp(pace)).toBe(false);
});
