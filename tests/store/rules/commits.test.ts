// Rules 1 to 7: what a commit is, and how its fate is learned.
import { describe, expect, test } from 'vitest';
import { refused } from '../../../shared/drivers/common/driver-outcomes.ts';
import { memoryDriver, type MemoryFault } from '../../../shared/drivers/memory.ts';
import { type Attempt, OpenAttempts } from '../../../shared/store/container/attempts.ts';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';
import { type Id64, ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import { openStore, StoreError } from '../../../shared/store/index.ts';
import { leavesOf, orphansOf } from './tree-of.ts';
import { put } from '../container/changes.ts';
import { snapshotWith } from '../container/nodes.ts';
import { fill, items, opened, twoProcesses, warm } from './table-steps.ts';
import { change, isReadOf, isWrite, isWriteOf, key, text, TINY, World } from './world.ts';
import { entityId, hexId, partName } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

const ROOT = entityId('t!t!');

function nothing(): void {}

describe('a request that is turned away', () => {
  const TURNED_AWAY = { refuse: 'throttled' } as const;
  /** A proxy sent it twice, and the first copy was applied. */
  const APPLIED = { ...TURNED_AWAY, again: (deliver: () => void) => deliver() };
  const DENIED = {
    code: 'unavailable',
    retryable: false,
    message: expect.stringContaining('nothing was written: the test denies access: let it grant some') as string,
  };

  test('rule 7: puts together, some of which need a split, are denied one by one or together, and none is written', async () => {
    const { world, a, tableA } = await warm();
    await fill(world, tableA, 0, 60);
    const before = [...world.state.entities.values()];
    a.rule((call) => (isWrite(call) ? { refuse: 'denied' } : undefined));
    const outcomes = await world.run(tableA.putMany(items(0, 60, 400)));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'failed', error: DENIED });
    expect([...world.state.entities.values()]).toEqual(before);
  });

  test('a table is opened, made and dropped although the writes of its root are turned away for a while', async () => {
    const { world, a } = await warm();
    for (let count = 0; count < 30; count += 1) a.once(isWriteOf('insert'), { refuse: 'throttled' });
    await world.run(a.store.table('u'));
    for (let count = 0; count < 30; count += 1) a.once(isWriteOf('replace'), { refuse: 'throttled' });
    await world.run(a.store.drop('u', { timeoutMs: 60_000 }));
    expect((await world.run(a.store.tables())).map(({ name }) => name)).toEqual(['t']);
  });

  test.each([
    ['throttled', { code: 'throttled', retryAfterMs: 100 }],
    ['denied', DENIED],
  ] as const)('a drop whose removals are %s asks seldom, and says why it could not end', async (refuse, cause) => {
    const { world, a, tableA } = await warm();
    await fill(world, tableA, 0, 60);
    const isOver = a.rule((call) => (call.kind === 'remove' ? { refuse } : undefined));
    a.takeCalls();
    const dropping = a.store.drop('t', { timeoutMs: 5_000 });
    await expect(world.run(dropping)).rejects.toMatchObject({ code: 'unknown', cause });
    expect(a.calls.filter(({ kind }) => kind === 'remove').length).toBeLessThanOrEqual(50);
    isOver();
    await world.run(a.store.drop('t'));
    expect(await world.run(a.store.tables())).toEqual([]);
  });

  test('under constant throttling 32 puts to 32 containers end as throttled: nothing was written, and few requests were sent', async () => {
    const { world, process: a, table } = await opened({ containers: 32 }, new World(), { timeoutMs: 5_000 });
    await fill(world, table, 0, 320);
    const leaves = leavesOf(world.state, 't').length;
    a.takeCalls();
    const isOver = a.rule((call) => (isWrite(call) ? { refuse: 'throttled' } : undefined));
    const puts = Array.from({ length: 32 }, (_, number) => table.put(key(number), 'new'));
    const ends = await world.run(Promise.allSettled(puts));
    const reason = { code: 'throttled', retryable: true, retryAfterMs: 100 };
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason });
    const sent = Map.groupBy(a.writes, ({ id }) => id);
    const busiest = Math.max(...[...sent.values()].map((writes) => writes.length));
    expect(busiest).toBeLessThanOrEqual(10);
    // The only reads are those at the end, which prove that nothing was written.
    const written = a.writes.length;
    expect(a.takeReads().length).toBeLessThanOrEqual(written / 2);
    isOver();
    expect((await world.run(table.get(key(1))))?.value).toBe(text(1));
    expect(leavesOf(world.state, 't')).toHaveLength(leaves);
  });

  test('a call that ends during a long pause of the provider delays neither close nor the end of the process', async () => {
    const runtime = new VirtualRuntime();
    const memory = memoryDriver();
    const error = new StoreError('throttled', 'said by a test', { retryAfterMs: 30_000 });
    let isThrottled = false;
    const write: Driver['write'] = async (writes, options) =>
      isThrottled ? writes.map(() => refused('throttled', error)) : memory.write(writes, options);
    const store = openStore({ driver: { ...memory, write }, runtime, timeoutMs: 500 });
    const table = await runtime.run(store.table<string>('t'));
    isThrottled = true;
    await expect(runtime.run(table.put('k', 'v'))).rejects.toMatchObject({ code: 'throttled', retryAfterMs: 30_000 });
    const endedMs = runtime.monotonicMs();
    await runtime.run(store.close());
    expect(runtime.monotonicMs() - endedMs).toBeLessThan(100);
    await runtime.advance(100);
    expect(runtime.sleepers).toBe(0);
  });

  test.each<[string, MemoryFault, MemoryFault, object]>([
    ['it and its reads are turned away', TURNED_AWAY, TURNED_AWAY, { cause: { code: 'throttled', retryAfterMs: 100 } }],
    ['it was turned away though applied, and no read tells', APPLIED, { fail: 'unavailable' }, {}],
    ['its reply was lost, and no read tells', { replyLost: true }, { fail: 'unavailable' }, {}],
  ])('rules 3, 7: a write is unknown at its deadline, never failed, where %s', async (_, write, read, more) => {
    const { world, a, tableA } = await warm();
    a.rule((call) => (isWrite(call) ? write : read));
    const expected = { code: 'unknown', table: 't', key: 'k', container: ROOT, ...more };
    await expect(world.run(tableA.put('k', 'v', { timeoutMs: 2_000 }))).rejects.toMatchObject(expected);
  });

  test('rule 7: a write that was applied all the same is found by one read at the deadline', async () => {
    const { world, a, tableA } = await warm();
    a.rule((call) => (isWrite(call) ? APPLIED : undefined));
    await world.run(tableA.put('k', 'v', { timeoutMs: 200 }));
    expect(a.calls.map(({ kind }) => kind)).toEqual(['write', 'read']);
  });

  test('a put that waits behind a throttled one fails as throttled at its deadline', async () => {
    const { world, a, tableA } = await warm();
    a.rule((call) => (isWrite(call) ? { refuse: 'throttled' } : undefined));
    const first = tableA.put('k', 'v', { timeoutMs: 60_000 });
    first.catch(nothing);
    await world.run(world.runtime.sleep(20_000));
    await expect(world.run(tableA.put('l', 'v', { timeoutMs: 50 }))).rejects.toMatchObject({ code: 'throttled' });
  });

  test('a commit is tried again only after the pause that the provider asks for', async () => {
    const { world, a, tableA } = await warm();
    const sentMs: number[] = [];
    a.rule((call) => {
      if (call.kind !== 'write') return undefined;
      sentMs.push(world.runtime.monotonicMs());
      return sentMs.length <= 4 ? { refuse: 'throttled' } : undefined;
    });
    await world.run(tableA.put('k', 'v'));
    expect(sentMs).toHaveLength(5);
    for (const [index, ms] of sentMs.slice(1).entries()) expect(ms - sentMs[index]!).toBeGreaterThanOrEqual(100);
  });

  test('rule 3: a request that is turned away leaves time to learn what became of the one before', async () => {
    const { world, a, tableA } = await warm();
    let land = nothing;
    a.once(isWriteOf('patch'), { fail: 'unavailable', late: (deliver) => (land = deliver) });
    a.rule((call) => {
      if (call.kind !== 'write' || a.writes.length < 2) return undefined;
      land();
      return { refuse: 'throttled' };
    });
    await world.run(tableA.put('k', 'v', { timeoutMs: 2_000 }));
    expect((await world.run(tableA.get('k')))?.value).toBe('v');
  });
});

test.each([
  ['as its deadline nears', Infinity, 0, 900],
  ['and is acknowledged while that read is slow', 700, 5_000, 1_000],
  ['while its reply is long in coming', 9_000, 0, 30_000],
])('rule 3: an open write is asked after by one read, %s', async (_, replyMs, readMs, timeoutMs) => {
  const { world, a, tableA } = await warm();
  a.once(isWriteOf('patch'), { reply: world.runtime.sleep(replyMs) });
  a.once(isReadOf(ROOT), { reply: world.runtime.sleep(readMs) });
  const begunMs = world.runtime.monotonicMs();
  await world.run(tableA.put('k', 'v', { timeoutMs }));
  expect(world.runtime.monotonicMs() - begunMs).toBeLessThan(2_500);
  expect(a.calls.map(({ kind }) => kind)).toEqual(['write', 'read']);
});

test('rule 3: a read that asked after a write tells nothing of the next write, however late it is answered', async () => {
  const { world, a, tableA, tableB } = await twoProcesses<number>();
  await world.run(tableA.put('k', 0));
  await world.run(tableB.put('k', 1));
  // The first write is refused after 1.5 s. A read asks after it at 1 s and is answered at 3 s;
  // it is repeated at 2 s, as it may be lost.
  const repliesMs = { read: [2_000, 0, 3_000, 2_000], write: [1_500, 2_000] };
  a.rule((call) => {
    const ms = call.kind === 'read' || call.kind === 'write' ? repliesMs[call.kind].shift() : undefined;
    return ms === undefined ? undefined : { reply: world.runtime.sleep(ms) };
  });
  a.takeCalls();
  const begunMs = world.runtime.monotonicMs();
  await world.run(tableA.put('k', 2));
  // If the reply at 3 s counted, the second write would have been given up then.
  expect(world.runtime.monotonicMs() - begunMs).toBe(3_500);
  expect(a.takeCalls().map(({ kind }) => kind)).toEqual(['write', 'read', 'read', 'write', 'read', 'read']);
  expect((await world.run(tableB.get('k')))?.value).toBe(2);
});

test('rule 3: a second write is sent beside one that nobody answers, once a read shows the base, and never a third', async () => {
  const { world, a, tableA } = await warm();
  const reply = world.runtime.sleep(60_000);
  const late: (() => void)[] = [];
  const lost = { reply, late: (deliver: () => void) => void late.push(deliver) };
  a.once(isWriteOf('patch'), lost);
  const begunMs = world.runtime.monotonicMs();
  await world.run(tableA.put('k', 'v'));
  expect(world.runtime.monotonicMs() - begunMs).toBeLessThan(2_000);
  expect(a.writes.length).toBe(2);
  for (const deliver of late) deliver();
  expect(await world.run(tableA.update('k', (user) => `${user?.value}2`))).toMatchObject({ value: 'v2' });

  const before = a.writes.length;
  a.rule((call) => (isWriteOf('patch')(call) ? lost : undefined));
  await expect(world.run(tableA.put('k', 'w', { timeoutMs: 9_000 }))).rejects.toMatchObject({ code: 'unknown' });
  expect(a.writes.length).toBe(before + 2);
});

test('rule 2: an insert that is refused because its fresh id exists counts as done', async () => {
  const { world, a, tableA } = await warm();
  const network = world.driver();
  a.once(isWriteOf('insert'), async (call) => {
    if (call.kind === 'write') await network.write(call.writes, { timeoutMs: 1_000 });
    return undefined;
  });
  await fill(world, tableA, 0, 60);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  expect(orphansOf(world.state, 't')).toEqual([]);
});

const ID = (digit: number): Id64 => hexId(`${digit}`.repeat(16));

/** The root after this number of commits, the last of which had these ids. */
function rootAfter(commitCount: number, ...digits: readonly number[]): Snapshot {
  const commitIds = Buffer.from(digits.map(ID).join(''), 'hex');
  return snapshotWith({ container: ROOT_CONTAINER, commitCount, commitIds });
}

/** A change, and a function that sends it to the root as it is after one commit. */
function sending() {
  const base = rootAfter(1, 1);
  const [open, change] = [new OpenAttempts('t'), put('k', 1)];
  const send = (id: number, answer: Attempt['answer']): void => {
    const { header } = base;
    open.begin({ id: ID(id), base, changes: [change], verdicts: [], header, answer, landed: nothing });
  };
  return { base, open, change, send };
}

test('rule 7: a read clears the attempts that were throttled, and none that nobody answered', () => {
  const { base, open, change, send } = sending();
  for (const answer of ['throttled', 'none', 'refused'] as const) send(7, answer);
  open.settleAndClear(base);
  expect([change.openAttempts, change.doubtfulAttempts]).toEqual([3, 2]);
});

test('rule 7: an attempt that was cleared leaves the next in doubt, also once the first has lost', () => {
  const { base, open, change, send } = sending();
  send(7, 'throttled');
  open.settleAndClear(base);
  expect(change.doubtfulAttempts).toBe(0);
  send(8, 'none');
  open.settle(base);
  expect([change.openAttempts, change.doubtfulAttempts]).toEqual([2, 1]);
  open.settle(rootAfter(2, 1, 9));
  expect([change.openAttempts, change.doubtfulAttempts]).toEqual([0, 0]);
});

test('rule 3: a write that was sent to a container which proves damaged is unknown, and at once', async () => {
  const { world, a, tableA } = await warm();
  a.once(isWriteOf('patch'), { replyLost: true });
  a.once(isReadOf(ROOT), () => {
    change(world, ROOT, (parts) => void parts.set(partName('h'), Buffer.from('?')));
    return undefined;
  });
  const writing = tableA.put('k', 'v');
  await expect(world.run(writing)).rejects.toMatchObject({ code: 'unknown', cause: { code: 'corrupt' } });
  expect(a.calls.map(({ kind }) => kind)).toEqual(['write', 'read']);
});

test('rule 6: a change that was sent and then changes nothing still travels in a commit, so that the first try cannot land later', async () => {
  const { world, a, tableA } = await warm();
  let deliver: () => void = nothing;
  a.once(isWriteOf('patch'), { late: (late) => (deliver = late) });
  let runs = 0;
  const entry = await world.run(tableA.update('k', () => ((runs += 1) === 1 ? 'once' : undefined)));
  deliver();
  expect(entry).toBeUndefined();
  expect(runs).toBe(2);
  expect(await world.run(tableA.get('k'))).toBeUndefined();
});

test('rule 7: a refusal for size leads to one forced split, and to an error if that does not help', async () => {
  const world = new World();
  const strict = memoryDriver({ state: world.state, limits: { ...TINY, entityBytesMax: 3_000 } });
  const { store } = world.process({ driver: { ...strict, limits: { ...strict.limits, entityBytesMax: 6_000 } } });
  const table = await world.run(store.table<string>('t', { order: 'key' }));
  await fill(world, table, 0, 30);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  const before = table.stats().writeRequests;
  await expect(world.run(table.put('k', text('', 3_500)))).rejects.toMatchObject({ code: 'too_large' });
  expect(table.stats().writeRequests - before).toBeLessThan(8);
});

test('a batch that one commit cannot hold goes in several', async () => {
  // A root that is split among so many leaves has no room for their names.
  const { world, table } = await opened({ order: 'key' }, new World({ limits: { ...TINY, chunksMax: 14 } }));
  const items = Array.from({ length: 60 }, (_, index) => ({
    key: 'x'.repeat(262) + key(index),
    value: text(index, 150),
  }));
  const outcomes = await world.run(table.putMany(items));
  expect(outcomes.map(({ status }) => status)).toEqual(items.map(() => 'written'));
  for (const { key: name, value } of items) expect(await world.run(table.get(name))).toMatchObject({ value });
});
