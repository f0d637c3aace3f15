// Keys, counts, clears and scans in reverse, beside an array of the same keys.
import { describe, expect, test } from 'vitest';
import type { RangeOptions, ReadRequest, Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items, keys } from '../rules/table-steps.ts';
import { key, text, World } from '../rules/world.ts';

const COUNT = 120;
const KEYS = keys(0, COUNT);

let world: World;

/** A table of several leaves. */
async function filled(records = items(0, COUNT, 500)): Promise<Table<string>> {
  world = new World({ limits: {} });
  const options = { order: 'key', containerBytesMax: 16_384 } as const;
  const table = await world.run(world.process().store.table<string>('t', options));
  await world.run(table.putMany(records));
  expect(leavesOf(world.state, 't').length).toBeGreaterThan(3);
  return table;
}

function all<T>(some: AsyncIterable<T>): Promise<T[]> {
  return world.run(Array.fromAsync(some));
}

const RANGES: [range: RangeOptions, expected: (name: string) => boolean][] = [
  [{}, () => true],
  [{ from: key(20), to: key(90) }, (name) => name >= key(20) && name < key(90)],
  [{ after: key(20), through: key(90) }, (name) => name > key(20) && name <= key(90)],
  [{ after: key(COUNT) }, () => false],
  [{ through: key(0) }, (name) => name === key(0)],
  [{ prefix: key(30).slice(0, -1) }, (name) => name.startsWith(key(30).slice(0, -1))],
  [{ from: key(50), to: key(40) }, () => false],
];

describe.each(RANGES)('the range %j', (range, expected) => {
  const wanted = KEYS.filter(expected);

  test('has these keys, forwards and in reverse, and as many; a clear deletes them and nothing else', async () => {
    const table = await filled();
    expect(await all(table.keys(range))).toEqual(wanted);
    expect(await all(table.keys({ ...range, reverse: true }))).toEqual(wanted.toReversed());
    expect(await world.run(table.count(range))).toBe(wanted.length);
    expect(await world.run(table.clear(range))).toBe(wanted.length);
    expect(await all(table.keys())).toEqual(KEYS.filter((name) => !expected(name)));
  });
});

test('a scan in reverse gives records, and goes on by its cursor, while leaves split', async () => {
  const table = await filled();
  const found: string[] = [];
  let scan = table.scan({ reverse: true, from: key(3), limit: 7 });
  for (let round = 0; ; round += 1) {
    for (const entry of await all(scan)) {
      expect(entry.value).toBe(text(KEYS.indexOf(entry.key), 500));
      found.push(entry.key);
    }
    if (scan.cursor === undefined) break;
    const added = Array.from({ length: 40 }, (_, number) => ({ key: `${key(COUNT - 1)}x${round}-${number}` }));
    await world.run(table.putMany(added.map((one) => ({ ...one, value: text(1, 500) }))));
    scan = table.scan({ cursor: scan.cursor, limit: 7 });
  }
  expect(found).toEqual(KEYS.slice(3).toReversed());
});

test('a scan in reverse through any key begins with that, also where a leaf begins with a longer one', async () => {
  const names = Array.from({ length: COUNT }, (_, number) => `k${number}`);
  const table = await filled(names.map((name) => ({ key: name, value: text(name, 500) })));
  for (const through of names) expect(await all(table.keys({ through, reverse: true, limit: 1 }))).toEqual([through]);
});

test('a count fails where the table was dropped and created again meanwhile', async () => {
  await filled();
  const [counting, other] = [world.process(), world.process()];
  const table = await world.run(counting.store.table<string>('t'));
  expect(await world.run(table.count())).toBe(COUNT);
  const again = async (): Promise<void> => {
    await other.store.drop('t');
    await (await other.store.table<string>('t', { order: 'key' })).putMany(items(0, COUNT, 500));
  };
  counting.once(
    ({ kind }) => kind === 'read',
    () => ({ reply: world.runtime.sleep(100).then(again) }),
  );
  await expect(world.run(table.count())).rejects.toMatchObject({ code: 'conflict', table: 't' });
});

test('a scan in reverse, and keys, leave out what is deleted or expired', async () => {
  const table = await filled();
  await world.run(table.delete(key(5)));
  await world.run(table.put(key(6), 'brief', { ttlMs: 10 }));
  await world.run(world.runtime.sleep(20));
  const left = KEYS.filter((name) => name !== key(5) && name !== key(6));
  expect(await all(table.keys({ reverse: true }))).toEqual(left.toReversed());
  expect(await world.run(table.count())).toBe(left.length);
});

test.each([{ through: key(1) }, { from: key(COUNT - 2), reverse: true }])(
  'a walk through pages of %j ends, though one page ends with the last record',
  async (range) => {
    const table = await filled();
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = table.keys({ ...range, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(await all(page));
      cursor = page.cursor;
    } while (cursor !== undefined && pages.length < 4);
    expect(pages.map((page) => page.length)).toEqual([1, 1, 0]);
  },
);

test('a scan of an empty range hears that its table is gone', async () => {
  const table = await filled();
  const scan = table.keys({ through: key(0), limit: 1 });
  await all(scan);
  await world.run(world.process().store.drop('t'));
  await world.run(world.runtime.sleep(1));
  await expect(all(table.keys({ cursor: scan.cursor! }))).rejects.toMatchObject({ code: 'not_found' });
});

test('a range of two bounds on one side, or of a prefix and a bound, is refused', async () => {
  const table = await filled();
  const refused = expect.objectContaining({ code: 'invalid' }) as Error;
  for (const range of [
    { from: 'a', after: 'a' },
    { to: 'a', through: 'a' },
    { prefix: 'a', through: 'a' },
  ]) {
    expect(() => table.scan(range)).toThrow(refused);
    await expect(table.clear(range)).rejects.toThrow(refused);
  }
});

test('has, keys and count decode no value; a scan in reverse goes on behind one that nobody can', async () => {
  world = new World({ limits: {} });
  const { store } = world.process();
  const encoded = await world.run(store.table('t', { order: 'key', codec: 'encoded' }));
  const put = (name: string, ...bytes: number[]): Promise<unknown> =>
    world.run(encoded.put(name, { codec: 'json', bytes: Uint8Array.from(bytes) }));
  await put('a', 0x31);
  await put('b', 0x7b);
  const table = await world.run(store.table<number>('t'));
  expect(await world.run(table.has('b'))).toBe(true);
  expect(await all(table.keys())).toEqual(['a', 'b']);
  expect(await world.run(table.count())).toBe(2);
  const scan = table.scan({ reverse: true });
  await expect(all(scan)).rejects.toMatchObject({ code: 'corrupt', key: 'b' });
  expect(await all(table.scan({ cursor: scan.cursor! }))).toMatchObject([{ key: 'a', value: 1 }]);
});

test('a count by a process that knows nothing reads headers, and no page of a leaf', async () => {
  await filled();
  const other = world.process();
  const table = await world.run(other.store.table('t', { create: false }));
  other.takeCalls();
  expect(await world.run(table.count())).toBe(COUNT);
  const reads = other.takeReads();
  const ofLeaves = reads.filter(({ id }) => leavesOf(world.state, 't').some((leaf) => leaf.id === id));
  expect(ofLeaves.length).toBe(leavesOf(world.state, 't').length);
  for (const { parts } of ofLeaves) expect(parts).toEqual(['c', 'h']);
});

function hasPages({ parts }: ReadRequest): boolean {
  return parts === 'all' || parts.some((name) => name.startsWith('p'));
}

test('a count reads leaves with layers once, and again only if they changed', async () => {
  const table = await filled();
  for (let number = 0; number < COUNT; number += 7) await world.run(table.put(`${key(number)}+`, text(number, 500)));
  const process = world.process();
  const other = await world.run(process.store.table<string>('t'));
  const counted = await world.run(other.count());
  expect(counted).toBe(COUNT + Math.ceil(COUNT / 7));
  const pagesRead = (): number => process.takeReads().filter(hasPages).length;
  expect(pagesRead()).toBeGreaterThan(3);
  expect(await world.run(other.count())).toBe(counted);
  const again = pagesRead();
  await world.run(table.delete(key(0)));
  expect(await world.run(other.count())).toBe(counted - 1);
  expect([again, pagesRead()]).toEqual([0, 1]);
});
