// Bytes in storage of the records of the contests: one that was not written is no saving.
import { expect, test } from 'vitest';
import { storedTable } from '../../../../infra/lab/bench/stored.ts';
import type { BenchProvider } from '../../../../infra/lab/providers.ts';
import { memoryDriver } from '../../../../shared/drivers/memory.ts';
import { ratioOf } from '../../../../shared/lab/report/chapters/schema.ts';
import type { Driver } from '../../../../shared/store/index.ts';

function weighed(driver: Driver): ReturnType<typeof storedTable> {
  const bench: Pick<BenchProvider, 'provider' | 'backend' | 'driver'> = {
    provider: 'datastore',
    backend: 'memory',
    driver: () => driver,
  };
  return storedTable(bench as BenchProvider);
}

test('all records are weighed, ours against entities with and without index entries', async () => {
  const table = await weighed(memoryDriver());
  expect(table.rows.map(({ id }) => id)).toEqual(['ours', 'theirs', 'unindexed']);
  expect(ratioOf(table, 'unindexed', 'bytes')).toBeGreaterThan(1);
  expect(ratioOf(table, 'theirs', 'bytes')).toBeGreaterThan(ratioOf(table, 'unindexed', 'bytes')!);
});

test('a record that is not written is an error', async () => {
  const inner = memoryDriver();
  let calls = 0;
  const write: Driver['write'] = async (writes, options) => {
    calls += 1;
    if (calls === 5) return writes.map(() => ({ kind: 'refused', reason: 'invalid' }));
    return inner.write(writes, options);
  };
  await expect(weighed({ ...inner, limits: inner.limits, write })).rejects.toThrow('refused the form of the write');
});
