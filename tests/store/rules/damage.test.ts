// Damaged bytes fail only the records in them; a scan reports each damage and goes on behind it.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { pageOf, type Snapshot } from '../../../shared/store/container/snapshot.ts';
import { recordsOf } from '../../../shared/store/format/page-body.ts';
import { decodeKey } from '../../../shared/store/format/position.ts';
import {
  type EncodedValue,
  openStore,
  type Scan,
  type ScanOptions,
  StoreError,
  type Table,
} from '../../../shared/store/index.ts';
import { leavesOf, storedRoot } from './tree-of.ts';
import { begun, keys as keysUpTo } from './table-steps.ts';
import { change, damage, flipped, text, World } from './world.ts';
import { entityId, partName } from '../../support/ids.ts';
import type { Driver } from '../../../shared/store/contract/driver.ts';

const ROOT = entityId('t!t!');
const PAGE_2 = partName('p2');
const KEYS = keysUpTo(0, 24);

/** The keys and errors of scans, each begun at the cursor of the one that failed before. */
async function scanThrough<V>(
  table: Table<V>,
  options: ScanOptions = {},
): Promise<{ keys: string[]; errors: StoreError[] }> {
  const keys: string[] = [];
  const errors: StoreError[] = [];
  let scan: Scan<V> = table.scan(options);
  for (;;) {
    try {
      for await (const entry of scan) keys.push(entry.key);
      return { keys, errors };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      errors.push(error);
    }
    const { cursor } = scan;
    if (cursor === undefined || errors.length > 20) return { keys, errors };
    scan = table.scan({ cursor });
  }
}

/** A table of one leaf: several pages in its base, records of `above` in layers above it. */
async function oneLeaf(above: readonly string[] = []) {
  const { world, table: writer } = await begun();
  await world.run(writer.putMany(KEYS.map((name) => ({ key: name, value: text(name, 80) }))));
  for (const name of above) await world.run(writer.put(name, 'newer'));
  return world;
}

/** The table, opened by a process that has nothing of it in memory. */
function opened(world: World): Promise<Table<string>> {
  return world.run(world.process().store.table<string>('t'));
}

function keysIn(node: Snapshot, row: number): string[] {
  return recordsOf(pageOf(node, node.header.pages[row]!, 't')).map(({ key }) => decodeKey(key));
}

type Harm = 'damaged' | 'missing';
type Outcome = { readonly key: string; readonly status: string; readonly error?: StoreError };

/** Harms pages of the root by their rows. Gives the keys in them. */
function harmed(world: World, harm: Harm, ...rows: readonly number[]): string[] {
  const root = storedRoot(world.state, 't');
  const lost = rows.flatMap((row) => keysIn(root, row));
  for (const row of rows) {
    const part = partName(`p${root.header.pages[row]!.slot}`);
    if (harm === 'damaged') damage(world, ROOT, part);
    else change(world, ROOT, (parts) => void parts.delete(part));
  }
  return lost;
}

test.each<[string, Harm, (table: Table<string>) => Promise<readonly Outcome[]>]>(
  (['damaged', 'missing'] as const).flatMap((harm) => [
    ['getMany', harm, (table) => table.getMany(KEYS)],
    ['updateMany', harm, (table) => table.updateMany(KEYS.map((name) => ({ key: name, change: () => 'new' })))],
  ]),
)('%s fails the keys of pages that are %s, no others', async (verb, harm, call) => {
  const world = await oneLeaf();
  const lost = harmed(world, harm, 1, 3);
  const outcomes = await world.run(call(await opened(world)));
  const failed = outcomes.filter(({ status }) => status === 'failed');
  expect(failed.map((outcome) => outcome.key)).toEqual(lost);
  for (const { error } of failed) expect(error).toMatchObject({ code: 'corrupt', container: ROOT });
  const done = verb === 'getMany' ? 'found' : 'written';
  expect(outcomes.filter(({ status }) => status === done)).toHaveLength(KEYS.length - lost.length);
});

test('a page that was damaged and is mended is read again', async () => {
  const world = await oneLeaf();
  const whole = world.state.entities.get(ROOT)!;
  const [lost] = harmed(world, 'damaged', 1);
  const table = await opened(world);
  await expect(world.run(table.get(lost!))).rejects.toMatchObject({ code: 'corrupt' });
  world.state.entities.set(ROOT, { ...whole, version: world.state.entities.get(ROOT)!.version });
  expect((await world.run(table.get(lost!)))?.value).toBe(text(lost!, 80));
});

test.each<[string, Harm, string[]]>([
  ['one layer', 'damaged', []],
  ['several layers', 'damaged', [KEYS[2]!, KEYS[20]!]],
  ['one layer', 'missing', []],
])('a scan of a leaf of %s tells of a page that is %s, and goes on behind it', async (_, harm, above) => {
  const world = await oneLeaf(above);
  expect(storedRoot(world.state, 't').header.layers.length > 0).toBe(above.length > 0);
  const lost = harmed(world, harm, 2);
  const { keys, errors } = await world.run(scanThrough(await opened(world)));
  expect(errors).toMatchObject([{ code: 'corrupt', container: ROOT }]);
  expect(keys).toEqual(KEYS.filter((name) => !lost.includes(name)));
});

test.each([false, true])('a scan, reverse: %s, tells of every damaged page', async (reverse) => {
  const world = await oneLeaf();
  const lost = harmed(world, 'damaged', 0, 3, storedRoot(world.state, 't').header.pages.length - 1);
  const { keys, errors } = await world.run(scanThrough(await opened(world), { reverse }));
  expect(errors).toHaveLength(3);
  const rest = KEYS.filter((name) => !lost.includes(name));
  expect(keys).toEqual(reverse ? rest.toReversed() : rest);
});

test('a scan goes on behind a leaf whose header is damaged', async () => {
  const { world, table: writer } = await begun(200);
  const leaves = leavesOf(world.state, 't');
  expect(leaves.length).toBeGreaterThan(4);
  const lost = leaves[1]!;
  const all = await world.run(scanThrough(writer));
  damage(world, lost.id, partName('h'));
  const { keys, errors } = await world.run(scanThrough(await opened(world)));
  expect(errors).toMatchObject([{ code: 'corrupt', container: lost.id }]);
  const isLost = (name: string) =>
    Buffer.compare(Buffer.from(name), lost.header.low) >= 0 && Buffer.compare(Buffer.from(name), lost.header.high!) < 0;
  expect(keys).toEqual(all.keys.filter((name) => !isLost(name)));
});

function value(...bytes: number[]): EncodedValue {
  return { codec: 'msgpack', bytes: Uint8Array.from(bytes) };
}

test('a record whose value cannot be decoded is its own failure, in getMany, update and scan', async () => {
  const store = openStore({ driver: memoryDriver() });
  const encoded = await store.table('t', { order: 'key', codec: 'encoded' });
  await encoded.putMany([
    { key: 'a', value: value(1) },
    { key: 'b', value: value(0x92, 1) },
    { key: 'c', value: value(0x81, 0x91, 1, 2) },
    { key: 'd', value: value(0xc1, 1) },
    { key: 'e', value: value(3) },
  ]);
  const table = await store.table('t');
  const outcomes = await table.getMany(['a', 'b', 'c', 'd', 'e']);
  expect(outcomes.map(({ status }) => status)).toEqual(['found', 'failed', 'found', 'failed', 'found']);
  await expect(table.update('b', () => 1)).rejects.toMatchObject({ code: 'corrupt', key: 'b' });
  const { keys, errors } = await scanThrough(table);
  expect(keys).toEqual(['a', 'c', 'e']);
  expect(errors).toMatchObject([
    { code: 'corrupt', table: 't', key: 'b' },
    { code: 'corrupt', table: 't', key: 'd' },
  ]);
});

test('a damaged branch fails the calls that need it, at once', async () => {
  const world = new World();
  await world.run(world.process().store.table('t', { containers: 4 }));
  damage(world, ROOT, partName(`p${storedRoot(world.state, 't').header.pages[0]!.slot}`));
  const table = await opened(world);
  const corrupt = { code: 'corrupt', container: ROOT };
  await expect(world.run(table.put('a', '2'))).rejects.toMatchObject(corrupt);
  expect(await world.run(table.getMany(['a', 'b']))).toMatchObject([{ error: corrupt }, { error: corrupt }]);
});

test('one damaged reply costs a split one attempt: the page is read again', async () => {
  const state = memoryState();
  const options = { state, limits: { entityBytesMax: 120_000 } };
  const sealed = { order: 'key', codec: 'bytes' } as const;
  const writer = openStore({ driver: memoryDriver(options) });
  const items = Array.from({ length: 8 }, (_, number) => ({ key: `k${number}`, value: randomBytes(9_500) }));
  await (await writer.table('t', sealed)).putMany(items);
  await writer.close();
  const driver = memoryDriver(options);
  let repliesToDamage = 1;
  const read: Driver['read'] = async (requests, bounds) => {
    const entities = await driver.read(requests, bounds);
    return entities.map((entity) => {
      if (repliesToDamage === 0 || entity?.parts.has(PAGE_2) !== true) return entity;
      repliesToDamage -= 1;
      return { ...entity, parts: new Map(entity.parts).set(PAGE_2, flipped(entity.parts.get(PAGE_2)!)) };
    });
  };
  const store = openStore({ driver: { ...driver, read } });
  const table = await store.table('t', sealed);
  await expect(table.put('k7', randomBytes(20_000))).rejects.toMatchObject({ code: 'corrupt', container: ROOT });
  await table.put('k7', randomBytes(20_000));
  expect(table.stats().splits).toBe(1);
  expect(await table.getMany(items.map((item) => item.key))).toMatchObject(items.map(() => ({ status: 'found' })));
  await store.close();
});
