// Which changes stay in a container's queue, and where the others go.
import { expect, test } from 'vitest';
import { items, twoProcesses } from '../rules/table-steps.ts';

test('changes that a stale branch sent astray go on together: some requests, not one for each', async () => {
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
