import { expect, test } from 'vitest';
import { memoryDriver, memoryState } from '../../../../shared/drivers/memory.ts';
import { OverlayEntities } from '../../../../shared/lab/cloud/tables/overlay.ts';
import { entityId, partName } from '../../../support/ids.ts';

const OPTIONS = { timeoutMs: 1_000 };

test('an overlay shows its base, keeps its own changes, and leaves the base as it was', async () => {
  const base = memoryState();
  const below = memoryDriver({ state: base });
  const parts = [{ name: partName('h'), bytes: Uint8Array.of(1), chunksBefore: 0 }];
  for (const id of ['a', 'b']) await below.write([{ kind: 'insert', id: entityId(id), parts }], OPTIONS);
  const before = new Map(base.entities);
  const above = memoryDriver({ state: { entities: new OverlayEntities(base.entities), versionCount: 10 } });
  const both = ['a', 'b'].map((id) => ({ id: entityId(id), parts: 'all' as const }));
  const [a, b] = await above.read(both, OPTIONS);
  const changed = [{ name: partName('h'), bytes: Uint8Array.of(2), chunksBefore: 1 }];
  const outcomes = [
    ...(await above.write([{ kind: 'patch', id: entityId('a'), version: a!.version, parts: changed }], OPTIONS)),
    ...(await above.remove([{ id: entityId('b'), version: b!.version }], OPTIONS)),
    ...(await above.write([{ kind: 'insert', id: entityId('c'), parts }], OPTIONS)),
  ];
  expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'removed', 'written']);
  const { ids } = await above.list('', undefined, 10, OPTIONS);
  expect(ids).toEqual(['a', 'c']);
  const [now, gone] = await above.read(both, OPTIONS);
  expect([...now!.parts.values()]).toEqual([Uint8Array.of(2)]);
  expect(gone).toBeUndefined();
  expect(base.entities).toEqual(before);
  // A removed entity may be inserted again.
  const [back] = await above.write([{ kind: 'insert', id: entityId('b'), parts }], OPTIONS);
  expect(back!.kind).toBe('written');
});
