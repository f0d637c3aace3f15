// How many requests are in flight, how fast they leave, which commits share one, and what is
// measured of them.
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { Pace, type Reply, RequestLimit, Semaphore, WriteBatcher } from '../../../shared/store/io/requests.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import type { Driver, Write } from '../../../shared/store/contract/driver.ts';
import { newCounters } from '../../../shared/store/system/tracing.ts';
import { entityId, partName } from '../../support/ids.ts';
import { openStore } from '../../../shared/store/index.ts';

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
  test('of a lone request comes from several that were alone in flight, not from those that queued', async () => {
    const limited = newLimit();
    await answer(limited, 3, () => ({ tookMs: 2 }), 1);
    expect(limited.limit.loneRoundTripMs).toBe(Infinity);
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

function insert(id: string, bytes = 10): Write {
  const part = { name: partName('p0'), bytes: Buffer.alloc(bytes, 1), chunksBefore: 0 };
  return { kind: 'insert', id: entityId(id), parts: [part] };
}

const always = (): boolean => true;

/** A batcher on memory, and the ids in each request it made. Ids of one lane begin alike. */
function sending() {
  const requests: string[][] = [];
  const memory = memoryDriver();
  const limits = { ...memory.limits, writesMax: 3, writeBytesMax: 1_000, lane: (id: string) => id[0]! };
  const driver: Driver = {
    ...memory,
    limits,
    write: async (writes, options) => {
      requests.push(writes.map(({ id }) => id));
      // One by one, so that a write that is refused does not decide the others'.
      const each = await Promise.all(writes.map((write) => memory.write([write], options)));
      return each.flat();
    },
  };
  const runtime = new VirtualRuntime();
  const provider = { table: 'users', driver, counters: newCounters() };
  const batcher = new WriteBatcher(provider, new RequestLimit(runtime, 64));
  return { batcher, requests };
}

type Sent = readonly [id: string, bytes?: number, isAlone?: boolean];

test.each<[name: string, sent: readonly Sent[], requests: string[]]>([
  ['a lone write is sent at once', [['a1']], ['a1']],
  ['writes of one lane share a request, up to writesMax', [['a1'], ['a2'], ['a3'], ['a4']], ['a1 a2 a3', 'a4']],
  ['writes of different lanes never share a request', [['a1'], ['b1'], ['a2'], ['b2']], ['a1 a2', 'b1 b2']],
  [
    'a request of several writes has at most writeBytesMax bytes',
    [
      ['a1', 600],
      ['a2', 600],
      ['a3', 300],
      ['a4', 2_000],
    ],
    ['a1 a3', 'a2', 'a4'],
  ],
  [
    'a write sent with isAlone has a request to itself, and the others do not wait for it',
    [['a1'], ['a2', 10, true], ['a3'], ['a4', 10, true]],
    ['a1 a3', 'a2', 'a4'],
  ],
])('%s', async (_, sent, expected) => {
  const { batcher, requests } = sending();
  const outcomes = await Promise.all(
    sent.map(([id, bytes, isAlone = false]) => batcher.send(insert(id, bytes), isAlone, always)),
  );
  expect(outcomes).toMatchObject(sent.map(() => ({ kind: 'written' })));
  expect(requests.map((ids) => ids.join(' '))).toEqual(expected);
});

test('a write that is taken back is not sent, and others take its place in the request', async () => {
  const { batcher, requests } = sending();
  const sent = ['a1', 'a2', 'a3', 'a4'].map((id) => batcher.send(insert(id), false, () => id !== 'a1'));
  expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['taken back', 'written', 'written', 'written']);
  expect(requests).toEqual([['a2', 'a3', 'a4']]);
});

test('a measured round trip does not include the wait for room before the request leaves', async () => {
  const runtime = new VirtualRuntime();
  const memory = memoryDriver();
  const driver: Driver = {
    ...memory,
    write: async (writes, options) => (await runtime.sleep(10), memory.write(writes, options)),
  };
  const provider = { table: 'users', driver, counters: newCounters() };
  const limit = new RequestLimit(runtime, 1);
  const batcher = new WriteBatcher(provider, limit);
  await runtime.run(Promise.all(['a', 'b', 'c'].map((id) => batcher.send(insert(id), true, always))));
  expect([limit.roundTripMs, limit.meanRoundTripMs]).toEqual([10, 10]);
});

test('a read whose reply is lost counts as in flight until it is answered, though it was sent again', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver({ limits: { readsMax: 1, inFlightMax: 4 } });
  let [sent, now, most] = [0, 0, 0];
  const driver: Driver = {
    ...near,
    read: async (requests, options) => {
      most = Math.max(most, (now += 1));
      await runtime.sleep((sent += 1) % 2 === 0 ? 10 : 10_000);
      now -= 1;
      return near.read(requests, options);
    },
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t'));
  await runtime.run(table.put('k', 1));
  for (let count = 0; count < 20; count += 1) expect((await runtime.run(table.get('k')))?.value).toBe(1);
  // The one read beyond is the table's second request for the same reply.
  expect(most).toBeLessThanOrEqual(5);
  await runtime.run(store.close());
});

test('a store has at most inFlightMax reads and at most inFlightMax commits in flight', async () => {
  const runtime = new VirtualRuntime();
  const near = memoryDriver({ limits: { readsMax: 1, inFlightMax: 12, lane: (id) => id } });
  const [now, most] = [
    { read: 0, write: 0 },
    { read: 0, write: 0 },
  ];
  const counted = (kind: 'read' | 'write') => async (): Promise<void> => {
    most[kind] = Math.max(most[kind], (now[kind] += 1));
    await runtime.sleep(10);
    now[kind] -= 1;
  };
  const driver: Driver = {
    ...near,
    read: (requests, options) => counted('read')().then(() => near.read(requests, options)),
    write: (writes, options) => counted('write')().then(() => near.write(writes, options)),
  };
  const store = openStore({ driver, runtime });
  const table = await runtime.run(store.table<number>('t', { containers: 64 }));
  const call = async (caller: number): Promise<void> => {
    for (let count = 0; count < 5; count += 1) {
      await table.put(`k${caller}-${count}`, count);
      await table.get(`k${caller}-${count}`);
    }
  };
  await runtime.run(Promise.all(Array.from({ length: 60 }, (_, caller) => call(caller))));
  expect(most).toEqual({ read: 12, write: 12 });
});
