// Requests: with whom they leave, how many at a time and how fast, and what is tried again.
import { describe, expect, test } from 'vitest';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { type Driver, SILENCE_MS, type Write } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { openStore } from '../../../shared/store/index.ts';
import { newCounters } from '../../../shared/store/io/counters.ts';
import {
  Pace,
  type Reply,
  RequestLimit,
  Semaphore,
  withRetry,
  WriteBatcher,
} from '../../../shared/store/io/requests.ts';
import { entityId, entityVersion, partName } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

// Commits that wait at one moment share a request, and each hears its own outcome.

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
  ['a lone write departs at once', [['a1']], ['a1']],
  ['writes of one lane share a request, as many as it takes', [['a1'], ['a2'], ['a3'], ['a4']], ['a1 a2 a3', 'a4']],
  ['lanes never mix', [['a1'], ['b1'], ['a2'], ['b2']], ['a1 a2', 'b1 b2']],
  [
    'a request carries no more bytes than the provider takes, save for a single write',
    [
      ['a1', 600],
      ['a2', 600],
      ['a3', 300],
      ['a4', 2_000],
    ],
    ['a1 a3', 'a2', 'a4'],
  ],
  [
    'what is to travel alone does, and keeps nobody waiting',
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

test('a write that is taken back when there is room is not sent, and leaves its place to others', async () => {
  const { batcher, requests } = sending();
  const sent = ['a1', 'a2', 'a3', 'a4'].map((id) => batcher.send(insert(id), false, () => id !== 'a1'));
  expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['taken back', 'written', 'written', 'written']);
  expect(requests).toEqual([['a2', 'a3', 'a4']]);
});

test('each write of a batch hears its own outcome', async () => {
  const { batcher } = sending();
  await batcher.send(insert('a2'), false, always);
  const outcomes = await Promise.all(['a1', 'a2', 'a3'].map((id) => batcher.send(insert(id), false, always)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'refused', 'written']);
});

test('a round trip begins when its request leaves: waiting for room before is none of it', async () => {
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

// How many requests may be in flight, how fast they leave, and how soon one is answered.

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

// A bound on what goes on at a time.

/** Acquires and notes when it may work. */
function enter(semaphore: Semaphore, name: string, entered: string[]): void {
  void (async () => {
    await semaphore.acquire();
    entered.push(name);
  })();
}

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('no more than may work do, and those who wait come in the order in which they asked', async () => {
  const semaphore = new Semaphore(2);
  const entered: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) enter(semaphore, name, entered);
  await rest();
  expect(entered).toEqual(['a', 'b']);
  expect(semaphore.active).toBe(2);
  semaphore.release();
  // Whoever comes now stands behind those in line.
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

// How fast a process sends once the provider turns requests away: as fast as they are taken.

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
  for (let reply = 0; reply < 15; reply += 1) pace.note(false, runtime.monotonicMs());
  await runtime.run(runtime.sleep(60_000));
  pace.note(true, runtime.monotonicMs());
  expect(isHeldUp(pace)).toBe(false);
});

// Reads and lists are tried again where that may help, in their time. Writes are not.

const THROTTLED = new StoreError('throttled', 'said by a test');
const THROTTLED_LONG = new StoreError('throttled', 'said by a test', { retryAfterMs: 3_000 });
const UNAVAILABLE = new StoreError('unavailable', 'said by a test');
const DENIED = new StoreError('unavailable', 'said by a test', { retryable: false });

/** A driver whose first calls end in these errors after `tookMs`, and the time each was given. */
function failing(errors: readonly (Error | undefined)[], tookMs = 0) {
  const runtime = new VirtualRuntime();
  const timeoutsMs: number[] = [];
  const memory = memoryDriver();
  const fail = async (timeoutMs: number): Promise<void> => {
    timeoutsMs.push(timeoutMs);
    await runtime.sleep(tookMs);
    const error = errors[timeoutsMs.length - 1];
    if (error !== undefined) throw error;
  };
  const driver: Driver = {
    ...memory,
    read: async (requests, options) => (await fail(options.timeoutMs), memory.read(requests, options)),
    list: async (prefix, cursor, count, options) => (
      await fail(options.timeoutMs),
      memory.list(prefix, cursor, count, options)
    ),
    write: async (_, { timeoutMs }) => (await fail(timeoutMs), [{ kind: 'unknown', reason: 'other' }]),
    remove: async (_, { timeoutMs }) => (await fail(timeoutMs), [{ kind: 'unknown', reason: 'other' }]),
  };
  const throttled: true[] = [];
  const { driver: retrying } = withRetry(driver, runtime, () => throttled.push(true));
  return { retrying, timeoutsMs, runtime, throttled };
}

const CALLS: readonly [name: string, call: (driver: Driver, timeoutMs: number) => Promise<unknown>][] = [
  ['read', (driver, timeoutMs) => driver.read([{ id: entityId('a'), parts: 'all' }], { timeoutMs })],
  ['list', (driver, timeoutMs) => driver.list('', undefined, 1, { timeoutMs })],
];

describe.each(CALLS)('a %s', (_, call) => {
  test.each<[string, Error, [tookMs: number, timeoutMs: number], [least: number, most: number, leastMs: number]]>([
    ['that goes on failing is tried four times', UNAVAILABLE, [0, 10_000], [4, 4, 0]],
    ['that would be refused again is not', DENIED, [0, 10_000], [1, 1, 0]],
    ['that is misuse is not', new TypeError('misuse'), [0, 10_000], [1, 1, 0]],
    ['that is never answered is not begun again after ten seconds', UNAVAILABLE, [SILENCE_MS, 60_000], [3, 3, 0]],
    ['that is throttled is tried for ten seconds, ever later', THROTTLED, [0, 60_000], [6, 9, 3_001]],
    ['that is throttled for longer than there is time is not', THROTTLED_LONG, [0, 2_000], [1, 1, 0]],
  ])('%s', async (_what, error, [tookMs, timeoutMs], [least, most, leastMs]) => {
    const { retrying, timeoutsMs, runtime } = failing(Array<Error>(99).fill(error), tookMs);
    await expect(runtime.run(call(retrying, timeoutMs))).rejects.toBe(error);
    expect(timeoutsMs.length).toBeGreaterThanOrEqual(least);
    expect(timeoutsMs.length).toBeLessThanOrEqual(most);
    expect(runtime.monotonicMs()).toBeGreaterThanOrEqual(leastMs);
  });

  test('that fails three times succeeds at the fourth try; each that is throttled is told, others are not', async () => {
    const { retrying, timeoutsMs, runtime, throttled } = failing([THROTTLED, UNAVAILABLE, THROTTLED]);
    await runtime.run(call(retrying, 60_000));
    expect([timeoutsMs.length, throttled.length]).toEqual([4, 2]);
  });

  test('is given what is left of its time at each try, and none begins after it', async () => {
    const { retrying, timeoutsMs, runtime } = failing([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE], 480);
    await expect(runtime.run(call(retrying, 1_000))).rejects.toBe(UNAVAILABLE);
    expect(timeoutsMs).toEqual([1_000, expect.toSatisfy((ms: number) => ms <= 520)]);
  });

  test('that is throttled waits for as long as the provider asks', async () => {
    const { retrying, timeoutsMs, runtime } = failing([THROTTLED_LONG]);
    await runtime.run(call(retrying, 10_000));
    expect(runtime.monotonicMs()).toBeGreaterThanOrEqual(3_000);
    expect(timeoutsMs).toHaveLength(2);
  });
});

test('rule 2: a write or removal of unknown fate is sent once', async () => {
  const { retrying, timeoutsMs, runtime } = failing([]);
  await runtime.run(retrying.write([{ kind: 'insert', id: entityId('a'), parts: [] }], { timeoutMs: 1_000 }));
  await runtime.run(retrying.remove([{ id: entityId('a'), version: entityVersion('v') }], { timeoutMs: 1_000 }));
  expect(timeoutsMs).toEqual([1_000, 1_000]);
});

describe.each([[undefined], [[]]])('a driver that answers with %j', (nothing) => {
  const answering = async (): Promise<never> => nothing as never;
  const runtime = new VirtualRuntime();
  const { driver } = withRetry(
    { ...memoryDriver(), read: answering, write: answering, remove: answering },
    runtime,
    () => undefined,
  );
  const [id, version] = [entityId('a'), entityVersion('v')];

  test('has told neither absence nor the fate of a write', async () => {
    await expect(driver.read([{ id, parts: 'all' }], { timeoutMs: 9 })).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
    });
    const unknown = [{ kind: 'unknown', reason: 'other' }];
    expect(await driver.write([{ kind: 'insert', id, parts: [] }], { timeoutMs: 9 })).toEqual(unknown);
    expect(await driver.remove([{ id, version }], { timeoutMs: 9 })).toEqual(unknown);
  });

  test('ends turns of the event loop, however often it is asked', async () => {
    const before = runtime.turns;
    for (let asked = 0; asked < 5_000; asked += 1) await driver.remove([{ id, version }], { timeoutMs: 9 });
    expect(runtime.turns - before).toBeGreaterThanOrEqual(4);
  });
});

test('a split whose new nodes are answered with nothing leaves the process its turns and its other calls', async () => {
  const runtime = new VirtualRuntime();
  const memory = memoryDriver();
  let isQuiet = false;
  const driver: Driver = {
    ...memory,
    write: (writes, options) =>
      isQuiet && writes[0]!.kind === 'insert' ? Promise.resolve(undefined as never) : memory.write(writes, options),
  };
  const store = openStore({ driver, runtime, compression: 'none' });
  const table = await runtime.run(store.table<string>('t', { order: 'key', containerBytesMax: 16_384 }));
  isQuiet = true;
  // An endless loop looks at the clock, and ends here.
  let looks = 0;
  const monotonicMs = runtime.monotonicMs.bind(runtime);
  runtime.monotonicMs = () => {
    if ((looks += 1) > 100_000) throw new Error('the process takes no turn any more');
    return monotonicMs();
  };
  const putting = table.putMany(
    Array.from({ length: 40 }, (_, at) => ({ key: `k${at}`, value: '.'.repeat(1_000) })),
    { timeoutMs: 5_000 },
  );
  const outcomes = await runtime.run(putting);
  expect(outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : outcome.status))).toEqual(
    Array(40).fill('aborted'),
  );
  isQuiet = false;
  expect(await runtime.run(table.count())).toBe(0);
});
