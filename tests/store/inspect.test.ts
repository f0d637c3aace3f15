// Inspection: one container as FORMAT.md reads it, damaged or not.
import { expect, test } from 'vitest';
import { partName } from '../support/ids.ts';
import { damage, placesOf, storedEntities } from './damage.ts';
import { leavesOf } from './rules/tree-of.ts';
import { items, keys, opened } from './rules/table-steps.ts';

const KEYS = keys(0, 90);

async function filled(order: 'hash' | 'key') {
  const { world, table } = await opened({ order });
  await world.run(table.putMany(items(0, 90)));
  await world.run(table.delete(KEYS[3]!));
  await world.run(table.put('soon gone', 'x', { ttlMs: 10 }));
  await world.run(world.runtime.sleep(20));
  const driver = world.driver();
  const inspect = (options = {}) => world.run(world.process().store.inspect('t', options));
  return { world, driver, inspect };
}

test.each(['hash', 'key'] as const)('order %s: links lead from leaf to leaf through all keys', async (order) => {
  const { world, driver, inspect } = await filled(order);
  const places = placesOf(await storedEntities(driver, 't'), 't');
  for (const name of KEYS) expect((await inspect({ key: name })).container).toBe(places.get(name)!.id);
  const root = await inspect();
  expect(root).toMatchObject({
    container: 't!t!',
    header: { order, level: 1, from: '', to: undefined, state: 'live' },
  });
  let [records, dead] = [0, 0];
  const start = leavesOf(world.state, 't')[0]!.id;
  for (let at: string | undefined = start; at !== undefined;) {
    const { header, pages, parts }: Awaited<ReturnType<typeof inspect>> = await inspect({ container: at });
    for (const page of pages) {
      expect(parts[`p${page.slot}`]).toBe(page.bytes);
      dead += page.tombstones! + page.expired!;
      records += page.records;
    }
    at = header!.right;
  }
  expect(records - dead).toBeGreaterThanOrEqual(KEYS.length - 1);
  expect(dead).toBe(2);
});

test('a damaged page, and a damaged header, are shown for what they are', async () => {
  const { driver, inspect } = await filled('key');
  const before = await storedEntities(driver, 't');
  const { id, part } = placesOf(before, 't').get(KEYS[5]!)!;
  await damage(driver, before, { id, part, edit: 'flipped' });
  const { pages } = await inspect({ container: id });
  expect(pages.filter((page) => page.damage !== undefined)).toMatchObject([
    { slot: Number(part.slice(1)), expired: undefined },
  ]);
  const again = await storedEntities(driver, 't');
  await damage(driver, again, { id, part: partName('h'), edit: 'cut' });
  const shown = await inspect({ container: id });
  expect(shown).toMatchObject({ header: undefined, pages: [] });
  expect(shown.damage).toMatch(/damaged or newer header/);
});

test('what is no container of the table is refused', async () => {
  const { inspect, world } = await filled('hash');
  for (const wrong of [
    { container: 't!other!' },
    { container: `n!t!${'0'.repeat(16)}!${'0'.repeat(16)}` },
    { container: 't!t!', key: 'a' },
  ])
    await expect(inspect(wrong)).rejects.toMatchObject({ code: 'invalid' });
  for (const container of ['n!t!/..', 'n!t!0!0', 'n!t!'])
    await expect(inspect({ container })).rejects.toMatchObject({
      message: expect.stringContaining('is no container of'),
    });
  for (const options of [{}, { key: 'a' }])
    await expect(world.run(world.process().store.inspect('none', options))).rejects.toMatchObject({
      code: 'not_found',
    });
});
