// Which changes stay in a container's queue, and where the others go.
import { expect, test } from 'vitest';
import { key, text, World } from '../rules/world.ts';

const NUMBERS = Array.from({ length: 60 }, (_, number) => number);

test('changes that a stale branch sent astray go on together: some requests, not one for each', async () => {
  const world = new World();
  const [stale, other] = [world.process(), world.process()];
  const open = (process: typeof stale) => world.run(process.store.table<string>('t', { order: 'key' }));
  const [mine, theirs] = [await open(stale), await open(other)];
  const put = (table: typeof mine, from: number) =>
    world.run(table.putMany(NUMBERS.map((number) => ({ key: key(from + number), value: text(number) }))));
  await put(mine, 0);
  // The last leaf splits. The other process's branch does not know it.
  await put(theirs, 100);
  stale.takeCalls();
  const written = await put(mine, 200);
  expect(written.every(({ status }) => status === 'written')).toBe(true);
  const calls = stale.takeCalls();
  expect(calls.length).toBeGreaterThan(1);
  expect(calls.length).toBeLessThan(NUMBERS.length / 4);
  await world.close();
});
