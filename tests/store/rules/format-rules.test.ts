// Rules 23 to 25: chunks, the order of keys, and what drivers leave behind.
import { expect, test } from 'vitest';
import type { Part, Write } from '../../../shared/store/contract/driver.ts';
import { slotOfPart } from '../../../shared/store/format/entity-ids.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { faultsOf, storedNode } from './tree-of.ts';
import { begun, keysBy, opened } from './table-steps.ts';
import { isWriteOf, key, text, TINY, World } from './world.ts';
import { entityId, entityVersion } from '../../support/ids.ts';

const LONE = '\ud800';

test('rule 23: pages that grow and shrink never leave chunks behind, nor take more than the entity may', async () => {
  // The memory driver refuses a chunk left behind, and counts dead chunks as the provider does.
  const limits = { ...TINY, chunkBytes: 2_600, entityBytesMax: 60_000, chunksMax: 40 };
  const { world, table } = await opened({ order: 'key' }, new World({ limits }));
  const draw = seededRandom(23);
  let refused = 0;
  for (let count = 0; count < 500; count += 1) {
    const name = key(Math.floor(draw() * 25));
    const work = draw() < 0.25 ? table.delete(name) : table.put(name, text(count, Math.floor(draw() ** 3 * 12_000)));
    await world.run<unknown>(work).catch(() => (refused += 1));
  }
  expect(refused).toBe(0);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 23: a page that is gone is dropped in the same write, and its slot goes on counting', async () => {
  const { world, a: process, table } = await begun(12);
  process.takeCalls();
  // Enough for the layers to become too many, and one.
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < 12; number += 1) await world.run(table.delete(key(number)));
    for (let number = 0; number < 12; number += 1) await world.run(table.put(key(number), text(round)));
  }
  const emptied = process.writes.flatMap(emptiedBy);
  expect(emptied.length).toBeGreaterThan(0);
  expect(emptied.every(({ chunksBefore }) => chunksBefore > 0)).toBe(true);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 23: pages that a split moves away are dropped by its commit, and what stays is not sent again', async () => {
  const { world, a: process, table } = await begun();
  let cut: Write | undefined;
  for (let number = 0; cut === undefined && number < 200; number += 1) {
    process.takeCalls();
    await world.run(table.put(key(number), text(number)));
    // The root's own split comes first, and replaces it: nothing stays there.
    const isLeafSplit =
      process.writes.some((write) => write.kind === 'insert' && write.id !== 't!t!') &&
      !process.calls.some(isWriteOf('replace'));
    if (isLeafSplit) cut = process.writes.find(({ kind }) => kind === 'patch');
  }
  const left = storedNode(world.state, 't', cut!.id)!;
  const sent = cut!.parts.filter(({ name, bytes }) => slotOfPart(name) !== undefined && bytes.length > 0);
  expect(emptiedBy(cut!).every(({ chunksBefore }) => chunksBefore > 0)).toBe(true);
  expect(emptiedBy(cut!).length).toBeGreaterThan(0);
  expect(left.header.deadSlots.length).toBe(emptiedBy(cut!).length);
  expect(sent.length).toBeLessThan(left.header.pages.length);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

function emptiedBy(write: Write): readonly Part[] {
  return write.parts.filter(({ bytes }) => bytes.length === 0);
}

test('rule 23: dead chunks are shed by a replace when they crowd the entity', async () => {
  const limits = { ...TINY, chunkBytes: 2_600, entityBytesMax: 60_000, chunksMax: 24 };
  const { world, process, table } = await opened({ order: 'key' }, new World({ limits }));
  for (let number = 0; number < 12; number += 1) {
    await world.run(table.put(key(number), text(number, 7_000)));
    await world.run(table.put(key(number), 'small'));
  }
  expect(process.calls.some(isWriteOf('replace'))).toBe(true);
  expect(process.calls.some(isWriteOf('insert', 't!t!'))).toBe(true);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 24: keys stand in the order of their bytes, not of their UTF-16 units', async () => {
  const { world, table } = await begun();
  const names = ['\u{10000}', '\uffff', 'é', 'e', 'z', '\u007f'];
  for (const name of names) await world.run(table.put(name, name));
  const found = await keysBy(world, table);
  expect(found).toEqual(names.toSorted((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y))));
  expect(found).not.toEqual(names.toSorted());
  expect(await keysBy(world, table, { from: '\uffff' })).toEqual(['\uffff', '\u{10000}']);
});

test('rule 24: lone surrogates are refused by put and scan before anything is sent', async () => {
  const { world, a: process, table } = await begun();
  process.takeCalls();
  await expect(world.run(table.put(LONE, 'v'))).rejects.toMatchObject({ code: 'invalid' });
  for (const bounds of [{ prefix: LONE }, { from: LONE }, { to: LONE }])
    expect(() => table.scan(bounds)).toThrow('lone surrogate');
  expect(process.calls).toEqual([]);
});

test('rule 24: the empty string is the beginning, never infinity', async () => {
  const { world, table } = await begun();
  for (const name of ['a', 'b']) await world.run(table.put(name, name));
  expect(await keysBy(world, table, { to: '' })).toEqual([]);
  expect(await keysBy(world, table, { from: '' })).toEqual(['a', 'b']);
  expect(await keysBy(world, table, { prefix: '' })).toEqual(['a', 'b']);
  expect(await keysBy(world, table, { from: 'b', to: 'a' })).toEqual([]);
});

test('rule 25: vacuum clears what probes left, and nothing takes a probe for a table or a container', async () => {
  const { world, store } = await opened();
  for (let number = 0; number < 12; number += 1)
    world.state.entities.set(entityId(`p~${number}`), {
      version: entityVersion(`p${number}`),
      parts: new Map(),
      chunksPeak: new Map(),
    });
  expect((await world.run(store.tables())).map(({ name }) => name)).toEqual(['t']);
  expect(await world.run(store.vacuum('t'))).toMatchObject({ listed: 0, left: 0 });
  expect([...world.state.entities.keys()]).toEqual(['t!t!']);
});

test('rule 25: no write and no removal of the engine goes without the version it was decided on', async () => {
  const { world, process, table } = await opened({ containers: 4 });
  for (let number = 0; number < 100; number += 1) await world.run(table.put(key(number), text(number)));
  await world.run(process.store.drop('t'));
  const known = new Set(Array.from({ length: world.state.versionCount }, (_, number) => `v${number + 1}`));
  const conditional = process.calls.flatMap((call) =>
    call.kind === 'remove'
      ? call.removals
      : call.kind === 'write'
        ? call.writes.filter((write) => write.kind !== 'insert')
        : [],
  );
  expect(conditional.length).toBeGreaterThan(100);
  expect(conditional.every((each) => 'version' in each && known.has(each.version))).toBe(true);
});

test('a repair under way does not outlive a store that was closed while its provider is away', async () => {
  const { world, a: process, table } = await begun(40);
  process.rule((call) => (isWriteOf('patch', 't!t!')(call) ? { replyLost: true } : undefined));
  for (let number = 40; number < 60; number += 1) await world.run(table.put(key(number), text(number)));
  process.rule(() => ({ fail: 'unavailable' }));
  await world.run(process.store.close());
  await world.runtime.advance(60_000);
  process.takeCalls();
  await world.runtime.advance(60_000);
  expect(process.calls).toEqual([]);
});
