// A commit asks others to leave the container alone: they do, for little longer than that.
import { expect, test } from 'vitest';
import { commitRoot } from '../rules/structure.ts';
import { opened } from '../rules/table-steps.ts';

/** A table of one leaf. Its last commit asks for a hold that the process has not seen. */
async function heldFor(freezeMs: number) {
  const { world, process: mine, table } = await opened<number>({ order: 'key' });
  await world.run(table.put('k', 1));
  await commitRoot(world, { freezeMs });
  return { world, mine, table };
}

test('a hold is waited for, and nothing is committed meanwhile', async () => {
  const { world, mine, table } = await heldFor(400);
  const putting = table.put('k', 2);
  await world.runtime.advance(1);
  // The first attempt was refused: it did not know of the hold.
  const tried = mine.writes.length;
  await world.runtime.advance(390);
  expect(mine.writes).toHaveLength(tried);
  const before = world.runtime.monotonicMs();
  await world.run(putting);
  expect(world.runtime.monotonicMs() - before).toBeLessThan(150);
  expect(table.stats().yields).toBeGreaterThan(0);
});

test('a hold that another commit ended is waited for no longer than to the next look', async () => {
  const { world, table } = await heldFor(400);
  const putting = table.put('k', 2);
  await world.runtime.advance(1);
  const before = world.runtime.monotonicMs();
  await commitRoot(world, { freezeMs: 0 });
  await world.run(putting);
  expect(world.runtime.monotonicMs() - before).toBeLessThanOrEqual(1.25 * (400 / 4));
});

test('however often others ask, and for however long, a change is committed in the end', async () => {
  const { world, mine, table } = await heldFor(1_000_000);
  let holds = 0;
  mine.rule(async (call) => {
    // Each look finds a new hold.
    if (call.kind === 'read' && holds < 100) {
      holds += 1;
      await commitRoot(world, { freezeMs: 1_000_000 });
    }
    return undefined;
  });
  await world.run(table.put('k', 2));
  expect((await world.run(table.get('k')))?.value).toBe(2);
  expect(table.stats().yields).toBeLessThanOrEqual(16);
});
