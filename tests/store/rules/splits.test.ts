// Rules 8 to 13: splits, routing, and the numbers of pages.
import { expect, test } from 'vitest';
import type { MemoryCall } from '../../../shared/drivers/memory.ts';
import { chooseSplitPoints } from '../../../shared/store/container/split.ts';
import { HEADER_BYTES_MAX } from '../../../shared/store/format/header.ts';
import { PageContent, type PageRef } from '../../../shared/store/format/page-table.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { faultsOf, leavesOf, orphansOf, storedIds, storedRoot } from './tree-of.ts';
import { begun, fill, items, keys, open, opened, twoProcesses } from './table-steps.ts';
import { isReadOf, isWriteOf, key, text, TINY, World } from './world.ts';
import { entityId, partName } from '../../support/ids.ts';

const ROOT = entityId('t!t!');

function insertedIds(calls: readonly MemoryCall[]): string[] {
  return calls.flatMap((call) =>
    call.kind === 'write'
      ? call.writes.filter(({ id, kind }) => kind === 'insert' && id !== ROOT).map(({ id }) => id)
      : [],
  );
}

test('rule 9: an insert that is not answered is asked after by its node, and linked as soon as that is there', async () => {
  const { world, a, table } = await begun();
  const readsOf = (inserted: string): number => a.calls.filter(isReadOf(inserted)).length;
  const asked: (readonly [reads: number, tookMs: number])[] = [];
  const { runtime } = world;
  for (const fault of [() => ({ reply: runtime.sleep(20_000) }), () => runtime.sleep(3_500).then(() => ({}))]) {
    a.takeCalls();
    a.once(isWriteOf('insert'), fault);
    const beganMs = runtime.monotonicMs();
    for (let number = 60 * asked.length; insertedIds(a.calls).length === 0; number += 1)
      await world.run(table.put(key(number), text(number)));
    asked.push([readsOf(insertedIds(a.calls)[0]!), runtime.monotonicMs() - beganMs]);
  }
  expect(asked.map(([reads]) => reads)).toEqual([1, 3]);
  expect(asked[0]![1]).toBeLessThan(2_000);
  expect(asked[1]![1]).toBeLessThan(5_000);
  expect(faultsOf(world.state, 't')).toEqual([]);
  expect(orphansOf(world.state, 't')).toEqual([]);
});

test('rule 10: a container splits at about 70 % of its budget', async () => {
  const { world, a, table } = await begun();
  let largest = 0;
  a.rule(() => {
    for (const { parts } of world.state.entities.values())
      largest = Math.max(
        largest,
        [...parts.values()].reduce((sum, part) => sum + part.length, 0),
      );
    return undefined;
  });
  await fill(world, table, 0, 200);
  expect(largest).toBeGreaterThan(0.5 * 6_000);
  expect(largest).toBeLessThan(0.75 * 6_000);
});

test('rule 10: headers stay within their own budget, even if a bulk write of tiny pages splits many ways', async () => {
  const large = new World({ limits: { ...TINY, entityBytesMax: 1_000_000, chunksMax: 100_000 } });
  const { world, table } = await opened({ order: 'key' }, large, { compression: 'zstd' });
  const items = Array.from({ length: 5_000 }, (_, number) => ({ key: key(number), value: text('', 4_000) }));
  await world.run(table.putMany(items, { timeoutMs: 100_000 }));
  const sizes = [...world.state.entities.values()].map(({ parts }) => parts.get(partName('h'))!.length);
  expect(Math.max(...sizes)).toBeLessThan(HEADER_BYTES_MAX);
});

test('rule 10: records of nearly the largest size never make a container that the provider refuses', async () => {
  const world = new World({ limits: { ...TINY, entityBytesMax: 720_000, chunkBytes: 65_532, chunksMax: 250 } });
  const a = world.process();
  const table = await world.run(a.store.table('t', { order: 'key', codec: 'bytes' }));
  const draw = seededRandom(3);
  const items = Array.from({ length: 60 }, (_, number) => ({
    key: key(number),
    value: new Uint8Array(5_000 + Math.floor(draw() * 505_000)),
  }));
  const outcomes = await world.run(table.putMany(items));
  expect(outcomes.filter(({ status }) => status !== 'written')).toEqual([]);
  for (const { key: name, value } of items) await world.run(table.put(`${name}+`, value));
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 10: a splitter looks at the header again before it inserts anything', async () => {
  const { world, a, tableA, tableB } = await twoProcesses();
  await fill(world, tableA, 0, 10);
  await world.run(tableB.put(key(1), text('b')));
  let staleCount = 0;
  a.rule(async (call) => {
    // A reads again what it is about to split, and b has written it in the meantime.
    if (staleCount > 2 || call.kind !== 'read' || call.requests[0]?.parts.length !== 1) return undefined;
    staleCount += 1;
    await tableB.put(key(2), text(staleCount));
    return undefined;
  });
  await fill(world, tableA, 10, 60);
  expect(staleCount).toBe(3);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  expect(orphansOf(world.state, 't')).toEqual([]);
});

test('rule 10: no node in which several pages begin is larger than one may be, whatever the pages and layers', () => {
  const draw = seededRandom(10);
  for (let round = 0; round < 300; round += 1) {
    const layers = Array.from({ length: 1 + Math.floor(draw() * 3) }, () => layerOfPages(draw));
    const node = { low: Buffer.of(0), level: 0, groupBy: undefined };
    const lows = chooseSplitPoints(layers, node, { bytes: 500, bytesMax: 900 });
    const nodes = lows.map((low, index) => pagesWithin(layers, low[0]!, lows[index + 1]?.[0] ?? 256));
    expect(lows[0]).toEqual(Buffer.of(0));
    expect(lows.length).toBeGreaterThan(1);
    expect(new Set(nodes.flat())).toEqual(new Set(layers.flat()));
    const several = nodes.filter((pages, index) => pages.some(({ low }) => low[0]! > lows[index]![0]!));
    expect(several.filter((pages) => pages.reduce((sum, { sealedBytes }) => sum + sealedBytes, 0) > 900)).toEqual([]);
  }
});

function layerOfPages(draw: () => number): PageRef[] {
  const lows = new Set([0, 128, ...Array.from({ length: Math.floor(draw() * 20) }, () => Math.floor(draw() * 256))]);
  return [...lows].toSorted((a, b) => a - b).map((low) => pageOfSize(low, Math.floor(draw() * 720)));
}

/** The pages that reach into the positions from `low` to `end`. */
function pagesWithin(layers: readonly (readonly PageRef[])[], low: number, end: number): PageRef[] {
  return layers.flatMap((rows) => rows.filter((ref, row) => ref.low[0]! < end && (rows[row + 1]?.low[0] ?? 256) > low));
}

function pageOfSize(at: number, sealedBytes: number): PageRef {
  const rest = { records: 1, number: at, crc: 0, compression: 0, mayHoldDead: true, chunksMost: 1 };
  return { low: Buffer.of(at), slot: at, sealedBytes, ...rest, fingerprints: undefined, content: new PageContent() };
}

test('rule 10: a container whose layers have too few pages to be cut is merged, then split', async () => {
  const { world, table } = await begun();
  // Each is a layer of one page, and each page begins where the container does.
  for (let number = 0; number < 4; number += 1) await world.run(table.put(key(number), text(number, 2_300)));
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(1);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 10: a container that updates fill is merged, not split', async () => {
  const { world, table } = await begun(20);
  const leaves = leavesOf(world.state, 't').length;
  for (let round = 0; round < 20; round += 1) await fill(world, table, 0, 20);
  expect(leavesOf(world.state, 't').length).toBeLessThanOrEqual(leaves + 1);
});

test.each([
  ['that fails again and again splits although it is small', { fail: 'unavailable' }, 2],
  [
    'does not split as its requests are throttled: the account may be too busy, and would be busier',
    { fail: 'throttled' },
    1,
  ],
  ['does not split as its requests are turned away', { refuse: 'throttled' }, 1],
] as const)('rule 10: a container %s', async (_, fault, leaves) => {
  const { world, a, table } = await begun(4);
  for (let count = 0; count < 10; count += 1) a.once(isWriteOf('patch'), fault);
  await world.run(table.put(key(5), text(5), { timeoutMs: 120_000 }));
  expect(leavesOf(world.state, 't')).toHaveLength(leaves);
});

test('rule 8: a split whose nodes are turned away is tried again with the same nodes, ever later, and its put fails as throttled at the deadline', async () => {
  const { world, a, table } = await begun();
  for (let number = 0; number < 8; number += 1) await world.run(table.put(key(number), text(number, 300)));
  a.takeCalls();
  const isOver = a.rule((call) => (isWriteOf('insert')(call) ? { refuse: 'throttled' } : undefined));
  const hurried = table.put('y', text(1, 3_000), { timeoutMs: 10_000 });
  await expect(world.run(hurried)).rejects.toMatchObject({ code: 'throttled', retryAfterMs: 100 });
  const inserts = a.writes.filter(({ kind }) => kind === 'insert');
  const nodes = new Set(inserts.map(({ id }) => id)).size;
  expect(inserts.length).toBeGreaterThan(nodes);
  expect(inserts.length).toBeLessThanOrEqual(10 * nodes);
  expect(nodes).toBeLessThanOrEqual(3);
  expect(leavesOf(world.state, 't')).toHaveLength(1);
  isOver();
  await world.run(table.put('z', text(1, 3_000)));
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 10: a reader beside a split, which expands pages, does not get in its way', async () => {
  const { world, b, tableA, tableB } = await twoProcesses();
  await fill(world, tableA, 0, 60);
  const before = leavesOf(world.state, 't').length;
  const failed: unknown[] = [];
  let reads = 0;
  b.rule(async (call) => {
    // B knows most of the leaf as stored, and expands it while the new nodes are on their way.
    if (!isWriteOf('insert')(call)) return undefined;
    for (let number = 0; number < 60; number += 1) {
      reads += 1;
      await tableB.get(key(number), { maxAgeMs: 60_000 }).catch((error: unknown) => failed.push(error));
    }
    return undefined;
  });
  const items = Array.from({ length: 24 }, (_, number) => ({ key: `${key(10)}${key(number)}`, value: text(number) }));
  const outcomes = await world.run(tableB.putMany(items));
  expect(outcomes.filter(({ status }) => status !== 'written')).toEqual([]);
  expect([failed, reads > 0]).toEqual([[], true]);
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(before);
});

test('rule 11: a parent is mended in the background; no operation waits for it', async () => {
  const { world, a, table } = await begun(40);
  const never = Promise.withResolvers<undefined>();
  a.rule((call) => (isWriteOf('patch', ROOT)(call) ? never.promise : undefined));
  const before = world.runtime.monotonicMs();
  await fill(world, table, 40, 120);
  expect(world.runtime.monotonicMs()).toBe(before);
  const read = await world.run(table.getMany(keys(0, 120)));
  expect(read.filter(({ status }) => status !== 'found')).toEqual([]);
  never.resolve(undefined);
});

test('rule 11: a repair of unknown fate is dropped, and searches that are led astray give it again, one per second', async () => {
  const { world, a, table } = await begun(40);
  const end = a.rule((call) => (isWriteOf('patch', ROOT)(call) ? { fail: 'unavailable' } : undefined));
  await fill(world, table, 40, 60);
  await world.runtime.advance(10_000);
  const tried = a.writes.filter(({ id, kind }) => id === ROOT && kind === 'patch').length;
  await world.runtime.advance(60_000);
  expect(a.writes.filter(({ id, kind }) => id === ROOT && kind === 'patch')).toHaveLength(tried);
  end();
  expect(childrenKnown(world)).toBeLessThan(leavesOf(world.state, 't').length);
  const lacking = leavesOf(world.state, 't').length - childrenKnown(world);
  const readAll = async () => {
    const { rightWalks } = table.stats();
    for (let number = 0; number < 60; number += 5) await world.run(table.get(key(number)));
    return table.stats().rightWalks - rightWalks;
  };
  for (let round = 0; round < lacking; round += 1) {
    expect(await readAll()).toBeGreaterThan(0);
    await world.runtime.advance(1_100);
  }
  expect(childrenKnown(world)).toBe(leavesOf(world.state, 't').length);
  await readAll();
  expect(await readAll()).toBe(0);
});

function childrenKnown(world: World): number {
  return storedRoot(world.state, 't').header.pages.reduce((sum, { records }) => sum + records, 0);
}

test('rule 11: a split that a reading settled counts, and its parent is told, as if it had been acknowledged', async () => {
  const { world, a: writer, table } = await begun();
  let lost = 0;
  let isLink = false;
  writer.rule((call) => {
    if (isWriteOf('insert')(call)) isLink = true;
    else if (call.kind === 'write' && isLink) {
      isLink = false;
      lost += 1;
      return { replyLost: true };
    }
    return undefined;
  });
  for (let number = 0; number < 200; number += 1) {
    await world.run(table.put(key(number), text(number)));
    // The repair of the parent is written meanwhile.
    await world.run(world.runtime.sleep(1_000));
  }
  expect(lost).toBeGreaterThan(3);
  expect(table.stats()).toMatchObject({ splits: lost, rightWalks: 0 });
  expect(childrenKnown(world)).toBe(leavesOf(world.state, 't').length);
});

test('rule 11: a repair that waited while its table was dropped and created again changes nothing in the new one', async () => {
  const { world, a, b, table } = await begun(40);
  const held = Promise.withResolvers<undefined>();
  a.once(isWriteOf('patch', ROOT), () => held.promise);
  const inserts = insertedIds(a.calls).length;
  // The first repair is on its way; those of later splits wait behind it.
  await fill(world, table, 40, 120);
  expect(insertedIds(a.calls).length - inserts).toBeGreaterThan(1);
  await world.run(b.store.drop('t'));
  await fill(world, await open(world, b), 0, 40);
  held.resolve(undefined);
  await world.runtime.advance(10_000);
  expect(storedRoot(world.state, 't').header.level).toBe(1);
  expect(faultsOf(world.state, 't')).toEqual([]);
});

test('rule 12: changes that a stale branch sent astray go on together, in a few requests', async () => {
  const { world, a: stale, tableA: mine, tableB: theirs } = await twoProcesses();
  await world.run(mine.putMany(items(0, 60)));
  // The last leaf splits. The other process's branch does not know it.
  await world.run(theirs.putMany(items(100, 160)));
  stale.takeCalls();
  const written = await world.run(mine.putMany(items(200, 260)));
  expect(written.every(({ status }) => status === 'written')).toBe(true);
  const calls = stale.takeCalls();
  expect(calls.length).toBeGreaterThan(1);
  expect(calls.length).toBeLessThan(15);
});

test('rule 12: vacuum looks at every level in the provider, whatever is cached', async () => {
  const { world, a, table } = await begun(60);
  for (let number = 0; number < 60; number += 1) await world.run(table.get(key(number)));
  a.takeCalls();
  await world.run(a.store.vacuum('t'));
  const unread = [ROOT, ...storedIds(world.state, 't')].filter((id) => !a.calls.some(isReadOf(id)));
  expect(unread).toEqual([]);
});
