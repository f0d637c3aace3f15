// The bill for the same calls differs by provider.
import { expect, test } from 'vitest';
import { COMPARISON } from '../../../functions/instance/config.ts';
import { storeUsage } from '../../../functions/compare/process-usage.ts';
import { measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { COMPARISON as PLACES } from '../../../shared/lab/work/baseline.ts';
import { entityId, entityVersion, partName } from '../../support/ids.ts';

const OPTIONS = { timeoutMs: 1_000 };

test('Datastore bills entities, Azure Table Storage requests', async () => {
  const { driver, counters } = measured(memoryDriver());
  const part = { name: partName('h'), bytes: Uint8Array.of(1, 2, 3), chunksBefore: 0 };
  const ids = ['a', 'b', 'c'].map(entityId);
  const outcomes = await driver.write(
    ids.map((id) => ({ kind: 'insert', id, parts: [part] })),
    OPTIONS,
  );
  await driver.read(
    ids.map((id) => ({ id, parts: 'all' })),
    OPTIONS,
  );
  await driver.list('', undefined, 10, OPTIONS);
  const versions = outcomes.map((outcome) => (outcome.kind === 'written' ? outcome.version : entityVersion('')));
  await driver.remove([{ id: entityId('a'), version: versions[0]! }], OPTIONS);

  const bytes = { bytesWritten: 9, bytesRead: 9, retries: {}, conflicts: 0 };
  const [entities, requests] = [3, 1].map((writes) => ({ reads: 4, writes, deletes: 1 }));
  expect(storeUsage('datastore', counters)).toEqual({ ...bytes, requests: 4, billable: entities });
  expect(storeUsage('azure-tables', counters)).toEqual({ ...bytes, requests: 6, billable: requests });
});

test('the table that no user may have is the one that a comparison makes', () => {
  expect(COMPARISON).toBe(PLACES);
});
