// Partitions: scans side by side that together give each record once.
import { expect, test } from 'vitest';
import type { Order, Table } from '../../../shared/store/index.ts';
import { items, keys, keysBy, keysOf, open } from '../rules/table-steps.ts';
import { World } from '../rules/world.ts';

async function filled(order: Order, count: number): Promise<{ world: World; table: Table<string> }> {
  const world = new World();
  const table = await open(world, world.process(), order);
  await world.run(table.putMany(items(0, count)));
  return { world, table };
}

const orders: readonly Order[] = ['hash', 'key'];

test.each(orders)('partitions of order %s give each record once, in shares of about one size', async (order) => {
  const { world, table } = await filled(order, 400);
  const cursors = await world.run(table.partitions(4));
  const shares = await Promise.all(cursors.map((cursor) => keysBy(world, table, { cursor })));
  expect(shares.flat().toSorted()).toEqual(keys(0, 400));
  expect(shares).toHaveLength(4);
  for (const share of shares) expect(share.length).toBeGreaterThan(40);
});

test.each(orders)('partitions of order %s give each record once, even after splits and merges', async (order) => {
  const { world, table } = await filled(order, 100);
  const cursors = await world.run(table.partitions(3));
  await world.run(table.putMany(items(100, 400)));
  const other = world.process().store;
  await world.run(other.vacuum('t', { quietMs: 0 }));
  const found = await Promise.all(cursors.map((cursor) => keysBy(world, table, { cursor })));
  expect(found.flat().toSorted()).toEqual(keys(0, 400));
});

test('a partition is resumed by the cursor of its scan', async () => {
  const { world, table } = await filled('key', 200);
  const [, second] = await world.run(table.partitions(2));
  const scan = table.scan({ cursor: second!, limit: 7 });
  const begun = await world.run(keysOf(scan));
  const rest = await keysBy(world, table, { cursor: scan.cursor! });
  expect([...begun, ...rest]).toEqual(await keysBy(world, table, { cursor: second! }));
});

test('a table of one container has one partition', async () => {
  const { world, table } = await filled('hash', 3);
  expect(await world.run(table.partitions(16))).toHaveLength(1);
});

test.each([0, 1.5, 1_025, Number.NaN])('a call for %d partitions is refused', async (count) => {
  const { world, table } = await filled('hash', 1);
  await expect(world.run(table.partitions(count))).rejects.toMatchObject({ code: 'invalid' });
});
