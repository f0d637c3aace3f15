// `stowage explain` tells what operations would take; here they run, and are counted.
import { expect, test } from 'vitest';
import { explained } from '../../../infra/cli/explain.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver, memoryState } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { onDatastore, stowage } from './run-command.ts';

test('explain tells the requests that operations then take, and their bytes within a half', async () => {
  const state = memoryState();
  const options = { order: 'key', containerBytesMax: 65_536 } as const;
  const store = openStore({ driver: memoryDriver({ state }) });
  const filled = await store.table('t', options);
  await filled.putMany(
    Array.from({ length: 20_000 }, (_, i) => ({ key: `k${100_000 + i}`, value: `${i}`.repeat(30) })),
  );
  // A scan shows the branches what was split.
  for await (const _ of filled.keys());
  const key = 'k105000';
  const { rows } = await explained(store, 't', key);
  const { driver, counters } = measured(memoryDriver({ state }));
  const table = await openStore({ driver }).table('t', options);
  const taken = async (work: () => Promise<unknown>): Promise<{ reads: number; writes: number; bytes: number }> => {
    const before: DriverCounters = { ...counters };
    await work();
    return {
      reads: counters.entitiesAsked - before.entitiesAsked,
      writes: counters.patches - before.patches,
      bytes: counters.bytesRead - before.bytesRead + counters.bytesWritten - before.bytesWritten,
    };
  };
  const first = await taken(() => table.get(key));
  const again = await taken(() => table.get(key));
  const put = await taken(() => table.put(key, 'new'));
  const scan = await taken(async () => {
    for await (const _ of table.keys());
  });
  for (const [row, real] of [again, first, put, scan].entries()) {
    const { operation, reads, writes, bytes } = rows[row]!;
    expect({ operation, writes: real.writes }).toEqual({ operation, writes });
    // A scan meets leaves that the branches do not know yet.
    expect(Math.abs(real.reads - reads)).toBeLessThanOrEqual(reads > 2 ? 0.5 * reads : 0);
    expect(Math.abs(real.bytes - bytes)).toBeLessThan(0.5 * bytes);
  }
});

test('explain prints a table with prices', async () => {
  const env = onDatastore();
  const store = 'gcp://commands?namespace=explain';
  const put = await stowage(['put', 't', 'a', '1', '--create', 'key', '--from', store], { env });
  expect(put.code).toBe(0);
  // A protocol has no case.
  const { stdout } = await stowage(['explain', 't', '--from', store.replace('gcp', 'GCP')], { env });
  expect(stdout).toMatch(/^Leaves: 1\n {2}operation +reads +writes/);
  expect(stdout).toMatch(/put or delete, container in memory +0 +1 +0 +\d+ +0\.9\n/);
});
