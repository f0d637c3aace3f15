// What a scan reads: with a limit the pages that it needs, else leaves ahead; of what memory has
// only last commits. And partitions: scans side by side that together give each record once.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Order, ScanOptions, Table } from '../../../shared/store/index.ts';
import { leavesOf } from '../rules/tree-of.ts';
import { items, keys, keysBy, opened } from '../rules/table-steps.ts';
import { key, type Process, World } from '../rules/world.ts';

let world: World;

beforeEach(() => {
  world = new World({ limits: {} });
});

function leafCount(): number {
  return leavesOf(world.state, 't').length;
}

/** A process that has opened the table, and knows its root alone. */
async function newcomer(own = {}): Promise<{ process: Process; table: Table<string> }> {
  const process = world.process(own);
  const table = await world.run(process.store.table<string>('t'));
  process.takeCalls();
  return { process, table };
}

/** The number of pages of each read since the last time, or `all` for a whole leaf. */
function readsOf(process: Process): (number | 'all')[] {
  return process
    .takeReads()
    .map(({ parts }) => (parts === 'all' ? 'all' : parts.filter((name) => name.startsWith('p')).length));
}

describe('a scan within a large leaf', () => {
  const RECORDS = 1_000;
  let filling: Table<string>;

  beforeEach(async () => {
    filling = (await opened({ order: 'key' }, world)).table;
    await world.run(filling.putMany(items(0, RECORDS, 400)));
  });

  /** A newcomer to a table whose root is a branch. */
  async function cold() {
    await world.run(filling.putMany(items(RECORDS, 4 * RECORDS, 400)));
    expect(leafCount()).toBeGreaterThan(1);
    return newcomer();
  }

  /** Lets records expire. The rows of their pages still count them. */
  async function expired(from: number, to: number): Promise<void> {
    await world.run(filling.putMany(items(from, to, 400).map((item) => ({ ...item, ttlMs: 1_000 }))));
    await world.run(world.runtime.sleep(2_000));
  }

  const few = expect.toSatisfy((pages: unknown) => typeof pages === 'number' && pages > 0 && pages < 10) as number;

  test.each<[what: string, options: ScanOptions, given: string[]]>([
    ['its limit asks for', { limit: 100 }, keys(0, 100)],
    ['the end of its range holds, in reverse,', { reverse: true, to: key(500), limit: 3 }, keys(497, 500).toReversed()],
    ['lie between its bounds', { from: key(100), to: key(110) }, keys(100, 110)],
  ])('reads the header, then the pages that %s, and once it knows them no more', async (_, options, given) => {
    const { process, table } = await cold();
    expect(await keysBy(world, table, options)).toEqual(given);
    expect(readsOf(process)).toEqual([0, few]);
    expect(await keysBy(world, table, options)).toEqual(given);
    expect(readsOf(process)).toEqual([0]);
  });

  test('gives each record once, although its limit reaches beyond the leaf', async () => {
    const { table } = await cold();
    expect(await keysBy(world, table, { limit: 3 * RECORDS })).toEqual(keys(0, 3 * RECORDS));
    const reversed = keys(0, 4 * RECORDS).toReversed();
    expect(await keysBy(world, table, { reverse: true, limit: 3 * RECORDS })).toEqual(reversed.slice(0, 3 * RECORDS));
  });

  test('reads the rest of the leaf in one request if it meets many expired records', async () => {
    await expired(1, 600);
    const { process, table } = await cold();
    expect(await keysBy(world, table, { limit: 50 })).toEqual([...keys(0, 1), ...keys(600, 649)]);
    expect(readsOf(process)).toEqual([0, few, 'all']);
  });

  test('gives what another process writes between two of its reads, and nothing twice', async () => {
    await expired(1, 600);
    const { table } = await cold();
    const scan = table.scan({ limit: 50 })[Symbol.asyncIterator]();
    expect((await world.run(scan.next())).value).toMatchObject({ key: key(0) });
    await world.run(filling.put(key(599), 'written meanwhile'));
    const rest: string[] = [];
    for (let next = await world.run(scan.next()); next.done !== true; next = await world.run(scan.next()))
      rest.push(next.value.key);
    expect(rest).toEqual(keys(599, 648));
  });
});

/** Fills the table until it has so many leaves. */
async function filled(leaves: number, containerBytesMax: number, own = {}) {
  const { process, table } = await opened({ order: 'key', containerBytesMax }, world, own);
  const bytes = Math.min(50_000, containerBytesMax / 8);
  for (let first = 0; leafCount() < leaves; first += 20)
    await world.run(table.putMany(items(first, first + 20, bytes)));
  return { process, table };
}

/** A newcomer that knows the first leaf, and its reads of others; the most unanswered at a time. */
async function watched(leaves: number, containerBytesMax: number) {
  await filled(leaves, containerBytesMax);
  const { process, table } = await newcomer();
  await world.run(table.get(key(0)));
  const seen = { all: 0, requests: 0, unanswered: 0, most: 0 };
  process.rule((call) => {
    if (call.kind !== 'read') return undefined;
    seen.requests += 1;
    seen.all += call.requests.length;
    seen.unanswered += call.requests.length;
    seen.most = Math.max(seen.most, seen.unanswered);
    const reply = world.runtime.sleep(100).then(() => (seen.unanswered -= call.requests.length));
    return { reply };
  });
  return { table, seen };
}

describe('a scan without a limit', () => {
  test('that is left at its first record has read the root, a leaf, and few others', async () => {
    const { table, seen } = await watched(60, 16_384);
    await world.run(Promise.resolve(table.scan()[Symbol.asyncIterator]().next()));
    expect(seen.all).toBeLessThanOrEqual(5);
  });

  test('reads up to 32 small leaves ahead in the end, each of them once and several per request', async () => {
    const { table, seen } = await watched(100, 16_384);
    await keysBy(world, table);
    expect(seen.most).toBeGreaterThan(8);
    expect(seen.most).toBeLessThanOrEqual(32);
    expect(seen.all).toBe(leafCount());
    expect(seen.requests).toBeLessThan(seen.all / 3);
  });

  test('reads few large leaves ahead', async () => {
    const { table, seen } = await watched(24, 1_000_000);
    await keysBy(world, table);
    expect(seen.most).toBeLessThanOrEqual(8);
  });

  test('asks leaves in memory for their last commits, and reads those that others have written', async () => {
    const { process, table } = await filled(8, 16_384);
    const before = await keysBy(world, table);
    readsOf(process);
    expect(await keysBy(world, table)).toEqual(before);
    expect(readsOf(process)).toEqual(Array.from({ length: leafCount() }, () => 0));
    await world.run((await newcomer()).table.put(key(7), 'of the other'));
    const values = await world.run(Array.fromAsync(table.scan(), ({ value }) => value));
    expect(values[7]).toBe('of the other');
    expect(readsOf(process).filter((pages) => pages === 'all')).toHaveLength(1);
  });
});

async function smallTable(order: Order, count: number) {
  const { table } = await opened({ order }, (world = new World()));
  await world.run(table.putMany(items(0, count)));
  return table;
}

describe('partitions', () => {
  test.each<Order>(['hash', 'key'])(
    'of order %s give each record once, in shares of about one size, after splits and merges too',
    async (order) => {
      const table = await smallTable(order, 400);
      const cursors = await world.run(table.partitions(4));
      const shares = await Promise.all(cursors.map((cursor) => keysBy(world, table, { cursor })));
      expect(shares.flat().toSorted()).toEqual(keys(0, 400));
      expect(shares).toHaveLength(4);
      for (const share of shares) expect(share.length).toBeGreaterThan(40);
      await world.run(table.putMany(items(400, 700)));
      await world.run(world.process().store.vacuum('t', { quietMs: 0 }));
      const later = await Promise.all(cursors.map((cursor) => keysBy(world, table, { cursor })));
      expect(later.flat().toSorted()).toEqual(keys(0, 700));
    },
  );

  test('are one for a table of one container, and senseless numbers of them are refused', async () => {
    const table = await smallTable('hash', 3);
    expect(await world.run(table.partitions(16))).toHaveLength(1);
    for (const count of [0, 1.5, 1_025, Number.NaN])
      await expect(world.run(table.partitions(count))).rejects.toMatchObject({ code: 'invalid' });
  });
});
