// Rules 19 to 22: reads, scans, time, and what identifies a page.
import { expect, test, vi } from 'vitest';
import type { Table } from '../../../shared/store/index.ts';
import { encodeCursor } from '../../../shared/store/table/bounds.ts';
import { leavesOf, storedRoot } from './tree-of.ts';
import { fill, keysBy, keysOf, newcomer, open, twoProcesses } from './table-steps.ts';
import { change, damage, flipped, isReadOf, isWholeRead, isWriteOf, key, resealed, World } from './world.ts';
import { entityId, partName } from '../../support/ids.ts';

const ROOT = entityId('t!t!');
const PAGE = partName('p0');

test('outcomes that getMany gave at its deadline do not change when the reply comes later', async () => {
  const { world, a, tableA } = await twoProcesses();
  await fill(world, tableA, 0, 2);
  a.once(isReadOf(ROOT), { reply: world.runtime.sleep(500) });
  const outcomes = await world.run(tableA.getMany([key(0), key(1)], { timeoutMs: 100 }));
  const told = outcomes.map((outcome) => outcome.status === 'failed' && outcome.error.code);
  expect(told).toEqual(['aborted', 'aborted']);
  await world.runtime.advance(1_000);
  expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed']);
});

test('checks at a near provider share requests, and none of them waits for a lost reply', async () => {
  const { world, a, tableA } = await twoProcesses();
  await world.run(tableA.put('k', 'old'));
  let replyMs = 2;
  a.rule(() => ({ reply: world.runtime.sleep(replyMs) }));
  for (let count = 0; count < 20; count += 1) await world.run(tableA.get('k'));
  a.takeCalls();
  const first = tableA.get('k');
  await world.runtime.advance(1);
  const second = tableA.get('k');
  await world.runtime.advance(0);
  const third = tableA.get('k');
  await world.run(Promise.all([first, second, third]));
  expect(a.calls.length).toBe(2);
  replyMs = 3_000;
  const lost = tableA.get('k');
  await world.runtime.advance(1);
  replyMs = 2;
  const waiting = tableA.get('k');
  const begunMs = world.runtime.monotonicMs();
  await world.run(waiting);
  expect(world.runtime.monotonicMs() - begunMs).toBeLessThan(300);
  await world.run(lost);
});

test('a read that meets an own commit on its way needs no second one', async () => {
  const { world, a, tableA } = await twoProcesses();
  await world.run(tableA.put('k', 'old'));
  a.takeCalls();
  a.once(isWriteOf('patch'), { reply: world.runtime.sleep(500) });
  const putting = tableA.put('k', 'new');
  await world.runtime.advance(1);
  expect((await world.run(tableA.get('k')))?.value).toBe('new');
  await world.run(putting);
  expect(a.takeReads().map(({ parts }) => parts)).toEqual([['c']]);
});

test('rule 19: an own commit sent before a strong read does not answer it, however late it is acknowledged', async () => {
  const { world, a, tableA, tableB } = await twoProcesses();
  await world.run(tableA.put('k', 'old'));
  a.once(isWriteOf('patch'), { reply: world.runtime.sleep(500) });
  const putting = tableA.put('k', 'own');
  await world.runtime.advance(1);
  await world.run(tableB.put('k', 'later'));
  a.once(isReadOf(ROOT), { reply: world.runtime.sleep(900) });
  const reading = tableA.get('k');
  await world.run(putting);
  expect((await world.run(reading))?.value).toBe('later');
});

test('rule 19: a late reply never replaces a newer cached container', async () => {
  const { world, b, tableA, tableB } = await twoProcesses();
  await world.run(tableA.put('k', 'old'));
  b.once(isWholeRead, { reply: world.runtime.sleep(500) });
  const scanning = keysOf(tableB.scan());
  await world.runtime.advance(1);
  await world.run(tableB.put('k', 'new'));
  await world.run(scanning);
  expect((await tableB.get('k', { maxAgeMs: 60_000 }))?.value).toBe('new');
});

test('rule 19: a container is unchanged only if its version and its last commit id are both equal', async () => {
  const { world, tableA, tableB } = await twoProcesses();
  await world.run(tableA.put('k', 'old'));
  const { version } = world.state.entities.get(ROOT)!;
  await world.run(tableB.put('k', 'new'));
  // A provider whose versions tick so coarsely that two writes share one.
  world.state.entities.set(ROOT, { ...world.state.entities.get(ROOT)!, version });
  expect((await world.run(tableA.get('k')))?.value).toBe('new');
});

test('rule 19: a scan beside writes of the same process never meets a page it has not read', async () => {
  const { world, a, tableA, tableB } = await twoProcesses();
  await fill(world, tableB, 0, 20);
  await world.run(tableA.get(key(3)));
  // The put is acknowledged between the effect of the scan's read and its reply.
  a.once(isWholeRead, { reply: world.runtime.sleep(500) });
  const scanning = keysOf(tableA.scan());
  await world.runtime.advance(1);
  // A knows the foreign change by its header alone.
  await world.run(tableB.put(key(15), 'foreign'));
  await world.run(tableA.put(key(3), 'new'));
  expect(await world.run(scanning)).toHaveLength(20);
});

test('rule 20: a cursor of one table is refused by every other, before anything is read', async () => {
  const { world, a, tableA } = await twoProcesses();
  await fill(world, tableA, 0, 20);
  const scan = tableA.scan({ limit: 3 });
  await world.run(keysOf(scan));
  const other = await world.run(a.store.table<string>('tt', { order: 'key' }));
  a.takeCalls();
  const refused = { code: 'invalid', message: expect.stringContaining('not given by a scan of this table') as string };
  expect(() => other.scan({ cursor: scan.cursor! })).toThrow(expect.objectContaining(refused) as Error);
  expect(a.calls).toEqual([]);
});

test('rule 20: a scan keeps to its bounds even if its cursor is forged', async () => {
  const { world, tableA } = await twoProcesses();
  await fill(world, tableA, 0, 40);
  const { incarnation } = storedRoot(world.state, 't').header;
  const state = { order: 'key', incarnation, isReverse: false } as const;
  const forge = (position: string, end: string): string =>
    encodeCursor({ ...state, from: Buffer.from(position), end: Buffer.from(end) }, 't');
  const bounds = { from: key(10), to: key(20) };
  for (const cursor of [forge(key(0), key(20)), forge(key(10), key(30)), forge('', '')])
    expect(() => tableA.scan({ ...bounds, cursor })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
  expect(await world.run(keysOf(tableA.scan({ ...bounds, cursor: forge(key(35), key(20)) })))).toEqual([]);
});

test('rule 20: a cursor of a dropped table fails, and never reads the table created after it, even a damaged one', async () => {
  const { world, a, tableA } = await twoProcesses();
  await fill(world, tableA, 0, 20);
  const scan = tableA.scan({ limit: 3 });
  await world.run(keysOf(scan));
  const cursor = scan.cursor!;
  await world.run(a.store.drop('t'));
  await expect(world.run(keysOf(tableA.scan({ cursor })))).rejects.toMatchObject({ code: 'not_found' });
  await fill(world, await open(world, a), 0, 60);
  const { table } = await newcomer(world);
  await expect(world.run(keysOf(table.scan({ cursor })))).rejects.toMatchObject({ code: 'conflict' });
  damage(world, leavesOf(world.state, 't')[0]!.id, partName('h'));
  const resumed = (await newcomer(world)).table.scan({ cursor });
  await expect(world.run(keysOf(resumed))).rejects.toMatchObject({ code: 'conflict' });
  expect(resumed.cursor).toBe(cursor);
});

test.each<[string, (table: Table<string>) => Promise<unknown>]>([
  ['touch', (table) => table.touch('k', { ttlMs: 9_000 })],
  ['update', (table) => table.update('k', () => 'new', { ttlMs: 9_000 })],
])('rule 21: a %s that found a record alive holds, though it lands after the expiry', async (_, renew) => {
  const { world, a, tableA, tableB } = await twoProcesses();
  await world.run(tableB.put('k', 'old', { ttlMs: 300 }));
  await world.run(world.runtime.sleep(200));
  a.once(isWriteOf('patch'), () => world.runtime.sleep(600).then(() => ({})));
  const renewing = renew(tableA);
  await world.run(world.runtime.sleep(250));
  expect(await world.run(tableB.get('k'))).toBeUndefined();
  await world.run(renewing);
  expect(await world.run(tableB.has('k'))).toBe(true);
});

test('rule 21: age is the larger difference of both clocks, and a clock that ran backwards means expired', async () => {
  const { world, a, tableA, tableB } = await twoProcesses();
  const stale = () => world.run(tableA.get('k', { maxAgeMs: 1_000 }));
  await world.run(tableA.put('k', '1'));
  await world.run(tableB.put('k', '2'));
  expect((await stale())?.value).toBe('1');
  world.runtime.jumpWall(1_001);
  expect((await stale())?.value).toBe('2');
  await world.run(tableB.put('k', '3'));
  expect((await stale())?.value).toBe('2');
  world.runtime.jumpWall(-10);
  expect((await stale())?.value).toBe('3');
  await world.run(tableB.put('k', '4'));
  await world.runtime.advance(1_001);
  world.runtime.jumpWall(-1_001);
  expect((await stale())?.value).toBe('4');
  a.takeCalls();
  await stale();
  expect(a.calls).toEqual([]);
});

test.each(['read', 'write'])('rule 21: age counts from when a %s was sent, not from its reply', async (kind) => {
  const { world, a, tableA, tableB } = await twoProcesses();
  if (kind === 'read') await world.run(tableB.put('k', '1'));
  const end = a.rule(() => ({ reply: world.runtime.sleep(900) }));
  await world.run<unknown>(kind === 'read' ? tableA.get('k') : tableA.put('k', '1'));
  end();
  await world.run(tableB.put('k', '2'));
  expect((await world.run(tableA.get('k', { maxAgeMs: 1_000 })))?.value).toBe('1');
  await world.runtime.advance(200);
  expect((await world.run(tableA.get('k', { maxAgeMs: 1_000 })))?.value).toBe('2');
});

test('rule 21: a store draws no id before it needs one', async () => {
  const world = new World();
  const draw = vi.spyOn(world.runtime, 'random');
  const { store } = world.process();
  expect(draw).not.toHaveBeenCalled();
  const table = await world.run(store.table<string>('t'));
  draw.mockClear();
  await world.run(table.put('k', 'v'));
  expect(draw).toHaveBeenCalledTimes(1);
});

test('rule 22: a cached page of the same place and number, but of other bytes, is not taken for the stored one', async () => {
  const { world, tableA, tableB } = await twoProcesses();
  await world.run(tableA.put('k', 'before'));
  const backup = world.state.entities.get(ROOT)!;
  await world.run(tableA.put('k', 'lost by the restore'));
  world.state.entities.set(ROOT, backup);
  await world.run(tableB.put('k', 'after the restore'));
  expect((await world.run(tableA.get('k')))?.value).toBe('after the restore');
});

test('rule 22: a valid, but other page is corrupt for reads and writes alike', async () => {
  const { world, b: other, tableA, tableB: table } = await twoProcesses();
  await fill(world, tableA, 0, 6);
  change(world, ROOT, (parts) => parts.set(PAGE, resealed(flipped(parts.get(PAGE)!))));
  other.takeCalls();
  const expected = { code: 'corrupt', table: 't', container: ROOT };
  await expect(world.run(table.get(key(0)))).rejects.toMatchObject(expected);
  await expect(world.run(table.update(key(0), () => 'x'))).rejects.toMatchObject(expected);
  await expect(keysBy(world, table)).rejects.toMatchObject(expected);
  expect(other.calls.length).toBeLessThan(20);
  expect(other.writes).toEqual([]);
  expect(await world.run(other.store.drop('t'))).toBe(true);
});
