// How many requests may be in flight, how fast they leave, and how soon one is answered.
import { describe, expect, test } from 'vitest';
import { RequestLimit, type Reply } from '../../../shared/store/io/request-limit.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
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

test('no more are in flight than the driver allows, from the first request on, and no fewer', async () => {
  expect((await answer(newLimit(4), 1_000, () => ({ tookMs: 10 }))).most).toBe(4);
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
  expect(most).toBeLessThanOrEqual(IN_FLIGHT_MAX);
  expect(tookMs).toBeLessThan((1.02 * 20_000 * 10) / 4);
});

test('requests that are turned away slow down all that follow', async () => {
  const limited = newLimit();
  let isTurnedAway = false;
  const half: Answer = () => ({ tookMs: 10, reply: { isThrottled: (isTurnedAway = !isTurnedAway) } });
  const { tookMs: freelyMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  await answer(limited, 1_000, half, 32);
  const { tookMs } = await answer(limited, 1_000, () => ({ tookMs: 10 }), 32);
  expect(tookMs).toBeGreaterThan(1.5 * freelyMs);
});

test('where there was nothing to send, the place is free again', async () => {
  const limited = newLimit();
  const nothing = Array.from({ length: 100 }, () => limited.limit.run(() => Promise.resolve(undefined)));
  await limited.runtime.run(Promise.all(nothing));
  const { most } = await answer(limited, 100, () => ({ tookMs: 10 }));
  expect(most).toBeGreaterThanOrEqual(8);
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
