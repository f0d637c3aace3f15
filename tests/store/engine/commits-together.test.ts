// Commits of several containers share requests.
import { expect, test } from 'vitest';
import { opened } from '../rules/table-steps.ts';
import { isWriteOf } from '../rules/world.ts';

/** A table of several leaves, a function that puts all its records at once, and write sizes. */
async function manyLeaves() {
  const { world, process, table } = await opened({ containers: 8 });
  const keys = Array.from({ length: 40 }, (_, number) => `key${number}`);
  const putAll = (value: string) => world.run(Promise.all(keys.map((key) => table.put(key, value))));
  await world.run(table.putMany(keys.map((key) => ({ key, value: 'old' }))));
  const takeWrites = () => process.takeCalls().flatMap((call) => (call.kind === 'write' ? [call.writes.length] : []));
  takeWrites();
  const expectAll = async (value: string): Promise<void> => {
    const found = await world.run(table.getMany(keys));
    expect(found).toMatchObject(keys.map(() => ({ status: 'found', value })));
  };
  return { process, putAll, takeWrites, expectAll };
}

test('commits of several containers share a request', async () => {
  const { putAll, takeWrites, expectAll } = await manyLeaves();
  await putAll('new');
  const batches = takeWrites();
  expect(batches.length).toBeLessThan(4);
  expect(Math.max(...batches)).toBeGreaterThan(4);
  await expectAll('new');
});

test('rule 1: every container of a batch that failed is settled by reading, and goes alone for some commits', async () => {
  const { process, putAll, takeWrites, expectAll } = await manyLeaves();
  process.once(isWriteOf('patch'), { fail: 'unavailable' });
  await putAll('new');
  const [failed, ...later] = takeWrites();
  expect(failed).toBeGreaterThan(4);
  expect(later.slice(0, failed)).toEqual(Array.from({ length: failed! }, () => 1));
  await expectAll('new');
  for (let round = 0; round < 11; round += 1) await putAll('newer');
  takeWrites();
  await putAll('newest');
  expect(Math.max(...takeWrites())).toBeGreaterThan(4);
});
