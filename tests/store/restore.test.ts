// A provider's backup, restored: of one moment, or entity after entity while writers go on.
import { expect, onTestFinished, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import type { Driver, EntityId } from '../../shared/store/contract/driver.ts';
import { nodesPrefix, rootId } from '../../shared/store/format/entity-ids.ts';
import { openStore, type Store, type Table } from '../../shared/store/index.ts';

const CALL = { timeoutMs: 60_000 };
const KEYS = Array.from({ length: 600 }, (_, number) => `key ${String(number).padStart(4, '0')}`);
const SMALL = { order: 'key', containerBytesMax: 16_384 } as const;

function storeOn(driver: Driver): Store {
  const store = openStore({ driver, compression: 'none' });
  onTestFinished(() => store.close());
  return store;
}

function value(key: string, round: number): string {
  return `${key} in round ${round} `.repeat(8);
}

async function put(table: Table<string>, keys: readonly string[], round: number): Promise<void> {
  await table.putMany(keys.map((key) => ({ key, value: value(key, round) })));
}

/** Copies what is listed at first, entity by entity; `meanwhile` runs before each. */
async function backup(from: Driver, meanwhile: (entity: number) => Promise<void>): Promise<Driver> {
  const to = memoryDriver();
  const { ids } = await from.list(nodesPrefix('t'), undefined, from.limits.listMax, CALL);
  const all: EntityId[] = [rootId('t'), ...ids];
  for (const [at, id] of all.entries()) {
    await meanwhile(at);
    const [entity] = await from.read([{ id, parts: 'all' }], CALL);
    if (entity === undefined) continue;
    const parts = [...entity.parts].map(([name, bytes]) => ({ name, bytes, chunksBefore: 0 }));
    await to.write([{ kind: 'insert', id, parts }], CALL);
  }
  return to;
}

test('a backup of many moments fails a verification, is made whole by a repair, and has no wrong value', async () => {
  const driver = memoryDriver();
  const table = await storeOn(driver).table<string>('t', SMALL);
  // The other half of the keys comes during the copy, so that leaves split meanwhile.
  const early = KEYS.filter((_, at) => at % 2 === 0);
  await put(table, early, 0);
  const copy = await backup(driver, (entity) =>
    put(
      table,
      KEYS.filter((_, at) => at % 4 === entity % 4),
      entity,
    ),
  );
  const restored = storeOn(copy);
  expect((await restored.verify('t')).findingCount).toBeGreaterThan(0);
  const { verified } = await restored.repair('t', { save: async () => {} });
  expect(verified.findingCount).toBe(0);
  const again = await restored.table<string>('t', SMALL);
  const found = (await again.getMany(KEYS)).flatMap((one) => (one.status === 'found' ? [one] : []));
  for (const one of found) expect(one.value).toMatch(new RegExp(`^(${one.key} in round \\d+ ){8}$`));
  expect(found.length).toBeGreaterThan(early.length / 2);
  await put(again, KEYS, 1_000);
  expect(await restored.verify('t')).toMatchObject({ findingCount: 0, records: KEYS.length });
});
