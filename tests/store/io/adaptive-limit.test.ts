// How many requests may be in flight: more while they wait, fewer only where fewer bring more.
import { describe, expect, test } from 'vitest';
import { AdaptiveLimit, type Reply } from '../../../shared/store/io/adaptive-limit.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { normal } from '../../support/normal.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const ANSWERED: Reply = { operations: 1 };
const IN_FLIGHT_MOST = 256;

/** The fate of a request, by how many are in flight with it. */
type Answer = (inFlight: number) => { readonly tookMs: number; readonly reply?: Reply };

interface Limited {
  readonly limit: AdaptiveLimit;
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

function newLimit(inFlightMost = IN_FLIGHT_MOST): Limited {
  const runtime = new VirtualRuntime();
  return { runtime, limit: new AdaptiveLimit(runtime, inFlightMost) };
}

test('no more are in flight than the driver allows, from the first request on, nor than the limit says', async () => {
  expect((await answer(newLimit(4), 1_000, () => ({ tookMs: 10 }))).most).toBe(4);
  const limited = newLimit();
  let beyond = 0;
  await answer(limited, 500, (inFlight) => {
    beyond = Math.max(beyond, inFlight - limited.limit.inFlightMax);
    return { tookMs: inFlight };
  });
  expect(beyond).toBe(0);
});

test('a lone caller leaves the limit where it is', async () => {
  const limited = newLimit();
  const before = limited.limit.inFlightMax;
  await answer(limited, 1_000, () => ({ tookMs: 10 }), 1);
  expect(limited.limit.inFlightMax).toBe(before);
});

test('where more in flight bring less, few are sent at a time', async () => {
  const limited = newLimit();
  await answer(limited, 4_000, (inFlight) => ({ tookMs: 5 * inFlight ** 1.5 }));
  expect(limited.limit.inFlightMax).toBeLessThanOrEqual(4);
});

test('where fewer in flight answer more operations each, few are sent at a time', async () => {
  const limited = newLimit(64);
  await answer(limited, 12_000, (inFlight) => ({
    tookMs: 5 * inFlight,
    reply: { operations: Math.ceil(100 / inFlight) },
  }));
  expect(limited.limit.inFlightMax).toBeLessThanOrEqual(4);
});

test('where the provider has become able to take more, as many are in flight again before long', async () => {
  const limited = newLimit();
  await answer(limited, 4_000, (inFlight) => ({ tookMs: 5 * inFlight ** 1.5 }));
  await answer(limited, 8_000, () => ({ tookMs: 5 }));
  expect(limited.limit.inFlightMax).toBeGreaterThanOrEqual(IN_FLIGHT_MOST / 2);
});

test('the queue of a provider that works on four requests at a time stays bounded, and is never empty', async () => {
  const limited = newLimit();
  const freeMs = [0, 0, 0, 0];
  const served: Answer = () => {
    const slot = freeMs.indexOf(Math.min(...freeMs));
    freeMs[slot] = Math.max(freeMs[slot]!, limited.runtime.monotonicMs()) + 10;
    return { tookMs: freeMs[slot] - limited.runtime.monotonicMs() };
  };
  const { most, tookMs } = await answer(limited, 20_000, served, 1_000);
  expect(most).toBeLessThanOrEqual(IN_FLIGHT_MOST);
  expect(tookMs).toBeLessThan((1.02 * 20_000 * 10) / 4);
});

test('requests that are turned away slow down all that follow, and leave as many in flight', async () => {
  const limited = newLimit();
  let isTurnedAway = false;
  const half: Answer = () => ({ tookMs: 10, reply: { operations: 1, isThrottled: (isTurnedAway = !isTurnedAway) } });
  const { tookMs: freelyMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  await answer(limited, 1_000, half, 32);
  const { tookMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  expect(tookMs).toBeGreaterThan(1.5 * freelyMs);
  expect(limited.limit.inFlightMax).toBe(IN_FLIGHT_MOST);
});

test('where there was nothing to send, the place is free again', async () => {
  const limited = newLimit();
  const nothing = Array.from({ length: 100 }, () => limited.limit.run(() => Promise.resolve(undefined)));
  await limited.runtime.run(Promise.all(nothing));
  const { most } = await answer(limited, 100, () => ({ tookMs: 10 }));
  expect(most).toBeGreaterThanOrEqual(8);
});

/** Milliseconds of a reply: lognormal; of those that are slow, ten times as long. */
function replyMs(draw: () => number, { medianMs, sigma, slowShare }: Tail): number {
  return medianMs * Math.exp(sigma * normal(draw)) * (draw() < slowShare ? 10 : 1);
}

interface Tail {
  readonly medianMs: number;
  readonly sigma: number;
  readonly slowShare: number;
}

const TAILS = [2, 50].flatMap((medianMs) =>
  [0.3, 1].flatMap((sigma) => [0, 0.01].map((slowShare): Tail => ({ medianMs, sigma, slowShare }))),
);

const WARM_UP = 8_000;
const MEASURED = 16_000;

/** Requests a millisecond, once the limit adapted, until the last is sent: its reply counts not. */
async function sentPerMs({ limit, runtime }: Limited, callers: number, tail: Tail): Promise<number> {
  const draw = seededRandom(callers);
  let sent = 0;
  let [beganMs, lastMs] = [0, 0];
  const answered: Answer = () => {
    sent += 1;
    lastMs = runtime.monotonicMs();
    if (sent === WARM_UP) beganMs = lastMs;
    return { tookMs: replyMs(draw, tail) };
  };
  await answer({ limit, runtime }, WARM_UP + MEASURED, answered, callers);
  return MEASURED / (lastMs - beganMs);
}

const NO_LIMIT = { run: async (send: () => Promise<Reply | undefined>) => void (await send()) } as AdaptiveLimit;

describe.each([16, 128])('%i callers', (callers) => {
  test.each(TAILS)('lose no tenth: sigma $sigma about $medianMs ms, $slowShare ten times slower', async (tail) => {
    const limited = newLimit();
    const perMs = await sentPerMs(limited, callers, tail);
    const most = await sentPerMs({ limit: NO_LIMIT, runtime: new VirtualRuntime() }, callers, tail);
    expect(perMs).toBeGreaterThan(0.9 * most);
    // The need of all callers, or the half that is tried at times.
    expect(limited.limit.inFlightMax).toBeGreaterThanOrEqual(callers / 2);
  });
});

describe('what a lone request takes', () => {
  test('is told by those that were alone, whatever others take in company', async () => {
    const limited = newLimit();
    await answer(limited, 20, () => ({ tookMs: 2 }), 1);
    expect(limited.limit.loneRoundTripMs).toBeCloseTo(2);
    await answer(limited, 1_000, (inFlight) => ({ tookMs: 2 * inFlight }));
    expect(limited.limit.loneRoundTripMs).toBeLessThan(4);
  });

  test('is not told by a few that were quick by chance, nor by those that failed', async () => {
    const limited = newLimit();
    const draw = seededRandom(3);
    await answer(limited, 200, () => ({ tookMs: draw() < 0.1 ? 1 : 10 }), 1);
    expect(limited.limit.loneRoundTripMs).toBeGreaterThan(4);
    await answer(limited, 200, () => ({ tookMs: 1, reply: { ...ANSWERED, isFailed: true } }), 1);
    expect(limited.limit.loneRoundTripMs).toBeGreaterThan(4);
  });

  test('beside it those in company are told, from the first on', async () => {
    const limited = newLimit();
    expect(limited.limit.roundTripMs).toBe(Infinity);
    await answer(limited, 1, () => ({ tookMs: 40 }), 1);
    expect(limited.limit.roundTripMs).toBeCloseTo(40);
    await answer(limited, 200, () => ({ tookMs: 10 }), 4);
    expect(limited.limit.roundTripMs).toBeLessThan(12);
    await answer(limited, 50, () => ({ tookMs: 1, reply: { ...ANSWERED, isFailed: true } }), 4);
    expect(limited.limit.roundTripMs).toBeGreaterThanOrEqual(9);
  });

  test('is not known before several told it', async () => {
    const limited = newLimit();
    await answer(limited, 3, () => ({ tookMs: 1 }), 1);
    expect(limited.limit.loneRoundTripMs).toBe(Infinity);
  });
});
