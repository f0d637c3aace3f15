// Lookup: found, missing and masked entities.
import { expect } from 'vitest';
import { type Declare, refuser } from '../declare.ts';
import { insert, key, remove, text } from '../protocol-service.ts';

export function lookupCases(declare: Declare): void {
  const invalid = refuser(declare);
  declare('a lookup says what is missing, with the version of the snapshot', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    const { found, missing } = await service.lookup([key(kind, 'a'), key(kind, 'b')]);
    expect(found!.map((result) => result.entity!.key!.path![0]!.name)).toEqual(['a']);
    expect(missing!.map((result) => result.entity!.key!.path![0]!.name)).toEqual(['b']);
    expect(Number(missing![0]!.version)).toBeGreaterThanOrEqual(Number(found![0]!.version));
  });

  declare('a lookup of nothing is fine', async (service) => {
    expect((await service.lookup([])).found).toEqual([]);
  });

  declare('a key that is asked for twice is found once', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    expect((await service.lookup([key(kind, 'a'), key(kind, 'a')])).found).toHaveLength(1);
  });

  declare('a mask shows only what it names', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1'), y: text('1') })]);
    const { found } = await service.lookup([key(kind, 'a')], { propertyMask: { paths: ['x', 'z'] } });
    expect(Object.keys(found![0]!.entity!.properties!)).toEqual(['x']);
  });

  declare('a mask of the key alone shows no property', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1') })]);
    const { found } = await service.lookup([key(kind, 'a')], { propertyMask: { paths: ['__key__'] } });
    expect(found![0]!.entity!.properties).toEqual({});
  });

  invalid('a lookup without an identifier', (service, kind) => service.lookup([key(kind)]));

  declare('what was deleted is missing', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    await service.commit([remove(key(kind, 'a'))]);
    expect((await service.lookup([key(kind, 'a')])).missing).toHaveLength(1);
  });
}
