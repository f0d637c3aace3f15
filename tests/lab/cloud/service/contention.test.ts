// Writers of one entity, worked out by hand. Fixed times: w one way, g a read, c a commit, which
// takes effect half way.
import { expect, test } from 'vitest';
import { PlainTable, plainState } from '../../../../shared/lab/cloud/service/plain.ts';
import type { ModelledService } from '../../../../shared/lab/cloud/service/service.ts';
import { expectWithin } from '../../expect-within.ts';
import { answered, inTime, modifyAtLast, plainOf, read, request, stillService, write } from './modelled.ts';

const W = 0.5;
const G = 4;
const C = 8;
const TIMES = { 'network.oneWayMs.median': W, 'get.baseMs': G, 'commit.baseMs': C, 'effect.share': 0.5 };
const SECONDS = 20;

/** Callers that each repeat the work for 20 s. */
async function callers(
  service: ModelledService,
  count: number,
  once: (caller: number) => Promise<unknown>,
): Promise<{ perSecond: number; byCaller: number[] }> {
  const { scheduler } = service;
  const byCaller = Array.from({ length: count }, () => 0);
  const caller = async (number: number): Promise<void> => {
    for (;;) {
      await once(number);
      if (scheduler.nowMs >= SECONDS * 1_000) return;
      byCaller[number]! += 1;
    }
  };
  const work = byCaller.map((_, number) => caller(number));
  // Starving callers would never return.
  await scheduler.run(Promise.race([Promise.all(work), scheduler.after(SECONDS * 1_000 + 100)]), Infinity);
  return { perSecond: byCaller.reduce((sum, done) => sum + done, 0) / SECONDS, byCaller };
}

test.each([1, 2, 4, 16])(
  'Azure: of %d callers that update one entity, one succeeds in each round, all others get 412',
  async (n) => {
    const service = stillService('azure-tables', TIMES);
    const table = plainOf(service);
    let conflicts = 0;
    const { perSecond } = await callers(service, n, async () => {
      conflicts += await modifyAtLast(table, 'a', 500);
    });
    // A refusal answers half a commit sooner, so a round lasts 4 w + g + c / 2. In n rounds each
    // caller wins once; the last is c / 2 longer.
    const roundMs = 4 * W + G + C / 2;
    expectWithin(perSecond, (1_000 * n) / (n * roundMs + C / 2), 0.02);
    const perSuccess = service.counters.conflicts / (perSecond * SECONDS);
    expect(Math.abs(perSuccess - (n - 1))).toBeLessThanOrEqual(0.02 * (n - 1));
    expect(conflicts).toBeLessThanOrEqual(service.counters.conflicts);
  },
);

/** Datastore, whose writers lock their entities. */
const locked = (overrides: Readonly<Record<string, number>> = {}): ModelledService =>
  stillService('datastore', { ...TIMES, 'contention.holdShare': 1, ...overrides });

function lockedTable(overrides?: Readonly<Record<string, number>>) {
  const service = locked(overrides);
  return { service, table: plainOf(service) };
}

test.each([2, 4, 8])(
  'Datastore: of %d callers that update one entity each holds it from its read to the end of its commit, and none is refused',
  async (n) => {
    const { service, table } = lockedTable();
    const { perSecond, byCaller } = await callers(service, n, () => modifyAtLast(table, 'a', 500));
    // The next read is queued. A way back and a way out lie between the holder's read and commit.
    expectWithin(perSecond, 1_000 / (G + 2 * W + C), 0.02);
    expectWithin(service.counters.requests / (perSecond * SECONDS), 2, 0.02);
    expectWithin(Math.min(...byCaller), Math.max(...byCaller), 0.02);
    expect(service.counters.conflicts).toBe(0);
  },
);

test.each([
  [
    'a transaction that waits too long for a lock is aborted',
    { 'contention.waitMaxMs': G },
    { contended: 1, requests: 3 },
  ],
  [
    'without locks the first to commit wins, as in the optimistic mode',
    { 'contention.holdShare': 0 },
    { contended: 0 },
  ],
])('Datastore: %s, and its caller sees a conflict', async (_, overrides, counters) => {
  const { service, table } = lockedTable(overrides);
  const outcomes = await inTime(service, Promise.all([table.modify('a', 500), table.modify('a', 500)]));
  expect(new Set(outcomes)).toEqual(new Set([true, 'conflict']));
  expect(service.counters).toMatchObject(counters);
});

test.each([
  ['its read found nothing, at once', true],
  ['the reply to its read was lost, after a minute', false],
])('Datastore: a transaction gives up its lock when %s', async (_, isRolledBack) => {
  const overrides = isRolledBack ? {} : { 'loss.replyShare': 1, 'loss.silentShare': 0, 'sdk.readRetriesMax': 0 };
  const { service } = lockedTable({ ...overrides, 'contention.waitMaxMs': 1e9 });
  const table = new PlainTable(service, plainState());
  const { scheduler } = service;
  const first = table.modify('a', 500).catch(String);
  await scheduler.run(first, 100);
  const heldMs = scheduler.nowMs;
  let tookEffectMs = 0;
  void service.send(request('commit', write('a')), () => (tookEffectMs = scheduler.nowMs)).catch(() => 0);
  await scheduler.pass(100_000);
  expect(tookEffectMs).toBe(heldMs + (isRolledBack ? W : 60_000) + C / 2);
});

test.each<[string, Readonly<Record<string, number>>, perSecond: number]>([
  ['follow each other at the pace of one', {}, 1_000 / C],
  ['wait for the part of a commit that holds the lock', { 'contention.holdShare': 0.25 }, 1_000 / (C * 0.25)],
  [
    'are no more after a burst than the entity’s rate',
    { 'contention.writesPerSecond': 25, 'contention.burstWrites': 50 },
    25 + 50 / SECONDS,
  ],
])('Datastore: blind writes to one entity %s', async (_, overrides, rate) => {
  const service = locked(overrides);
  const { perSecond, byCaller } = await callers(service, 8, () => service.send(request('commit', write('a')), () => 0));
  expectWithin(perSecond, rate, 0.02);
  expectWithin(Math.min(...byCaller), Math.max(...byCaller), 0.02);
});

test('Datastore: writes to several entities hold all of them, and wait for none twice', async () => {
  const service = locked();
  const pairs = [
    [write('a'), write('b')],
    [write('b'), write('c')],
    [write('c'), write('a')],
  ] as const;
  const { byCaller, perSecond } = await callers(service, 3, (caller) =>
    service.send(request('commit', ...pairs[caller]!), () => 0),
  );
  // Any two share an entity, so all three take turns.
  expectWithin(perSecond, 1_000 / C, 0.02);
  expectWithin(Math.min(...byCaller), Math.max(...byCaller), 0.02);
});

test('Datastore: who waits too long for a lock is given up, and had no effect', async () => {
  const service = locked({ 'contention.waitMaxMs': 20 });
  let effects = 0;
  const sent = Array.from({ length: 5 }, () => service.send(request('commit', write('a')), () => (effects += 1)));
  const settled = Promise.allSettled(sent);
  await service.scheduler.run(settled, 1_000);
  // Three hold the lock within 20 ms: at 0, 8 and 16.
  expect((await settled).filter(({ status }) => status === 'rejected')).toHaveLength(2);
  expect(effects).toBe(3);
  expect(service.counters.contended).toBe(2);
  await answered(service, request('commit', write('a')), () => (effects += 1));
  expect(effects).toBe(4);
});

test('Datastore: reads wait for nobody', async () => {
  const service = locked();
  for (let number = 0; number < 10; number += 1) void service.send(request('commit', write('a')), () => 0);
  await answered(service, request('get', read('a')), () => 0);
  expect(service.scheduler.nowMs).toBe(2 * W + G);
});

test('a caller that gives up leaves its request in the queue, and it takes effect', async () => {
  const service = locked();
  const { scheduler } = service;
  let effects = 0;
  const first = service.send(request('commit', write('a')), () => (effects += 1));
  await scheduler.pass(0.1);
  const hasty = service.send({ ...request('commit', write('a')), timeoutMs: 5 }, () => (effects += 1));
  await expect(scheduler.run(hasty, 1_000)).rejects.toThrow('timed-out');
  expect(scheduler.nowMs).toBe(5.1);
  await scheduler.run(first, 1_000);
  expect(effects).toBe(1);
  await scheduler.pass(100);
  expect(effects).toBe(2);
});
