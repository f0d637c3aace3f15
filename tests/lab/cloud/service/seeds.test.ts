// One seed gives one run, to the byte. Another seed gives another.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { memoryState } from '../../../../shared/drivers/memory.ts';
import { AZURE_TABLES_2026_11 } from '../../../../shared/lab/cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import type { ProviderData } from '../../../../shared/lab/cloud/data/parameters.ts';
import { modelledDriver } from '../../../../shared/lab/cloud/service/driver.ts';
import { entityId, partName } from '../../../support/ids.ts';
import { modifyAtLast, plainOf, serviceOf } from './modelled.ts';

/** A hash of the bill, and of all that callers saw, failures included, and when. */
async function runOf(data: ProviderData, seed: number): Promise<string> {
  const service = serviceOf(data, { 'loss.replyShare': 0.02, 'tail.share': 0.05 }, seed);
  const hash = createHash('sha256');
  const tell = (what: unknown): void => void hash.update(`${service.scheduler.nowMs} ${JSON.stringify(what)}\n`);
  const table = plainOf(service);
  const state = memoryState();
  const plain = async (caller: number): Promise<void> => {
    for (let round = 0; round < 20; round += 1) {
      const key = `k${(caller * 7 + round) % 5}`;
      tell(await modifyAtLast(table, key, 500 + round).catch(String));
      tell(await table.get(key).catch(String));
    }
  };
  const stored = async (caller: number): Promise<void> => {
    const driver = modelledDriver(service, state);
    for (let round = 0; round < 20; round += 1) {
      const id = entityId(`e${(caller + round) % 40}`);
      const parts = [{ name: partName('h'), bytes: Buffer.alloc(caller), chunksBefore: 0 }];
      tell((await driver.write([{ kind: 'insert', id, parts }], { timeoutMs: 40 })).map(({ kind }) => kind));
    }
  };
  const work = Array.from({ length: 16 }, (_, caller) => (caller % 2 === 0 ? plain(caller) : stored(caller)));
  await service.scheduler.run(Promise.all(work), Infinity);
  tell(service.counters);
  return hash.digest('hex');
}

test.each([DATASTORE_2026_11, AZURE_TABLES_2026_11])('$name', async (data) => {
  const first = await runOf(data, 1);
  expect(await runOf(data, 1)).toBe(first);
  expect(await runOf(data, 2)).not.toBe(first);
});
