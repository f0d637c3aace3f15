// A commit asks others to leave the container alone: they do, for little longer than that.
import { expect, test } from 'vitest';
import { commitRoot } from '../rules/tree-of.ts';
import { opened } from '../rules/table-steps.ts';

/** A table of one leaf. Its last commit asks for a freeze that the process has not seen. */
async function frozenFor(freezeMs: number) {
  const { world, process: mine, table } = await opened<number>({ order: 'key' });
  await world.run(table.put('k', 1));
  await commitRoot(world, { freezeMs });
  return { world, mine, table };
}

test('a freeze is waited for, and nothing is committed meanwhile', async () => {
  const { world, mine, table } = await frozenFor(400);
  const putting = table.put('k', 2);
  await world.runtime.advance(1);
  // The first attempt was refused: it did not know of it.
  const tried = mine.writes.length;
  await world.runtime.advance(390);
  expect(mine.writes).toHaveLength(tried);
  const before = world.runtime.monotonicMs();
  await world.run(putting);
  expect(world.runtime.monotonicMs() - before).toBeLessThan(150);
  expect(table.stats().yields).toBeGreaterThan(0);
});
