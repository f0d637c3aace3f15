// Lookup, and the ids.
import { expect } from 'vitest';
import { type Declare, expectCode } from '../declare.ts';
import { CODE, entity, insert, key, PROJECT_ID, remove, text, upsert } from '../service.ts';

export function lookupCases(declare: Declare): void {
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

  declare('a mask shows a part of an embedded entity', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { e: entity({ x: text('1'), y: text('2') }) })]);
    const { found } = await service.lookup([key(kind, 'a')], { propertyMask: { paths: ['e.x'] } });
    expect(Object.keys(found![0]!.entity!.properties!['e']!.entityValue!.properties!)).toEqual(['x']);
  });

  declare('a lookup without an identifier is INVALID_ARGUMENT', async (service, kind) => {
    await expectCode(CODE.invalid, service.lookup([key(kind)]));
  });

  declare('every value comes back as it was stored', async (service, kind) => {
    const properties = {
      null: { nullValue: 'NULL_VALUE' as const },
      yes: { booleanValue: true },
      large: { integerValue: '-9223372036854775808' },
      half: { doubleValue: -0.5 },
      time: { timestampValue: { seconds: '-1', nanos: 999_999_000 } },
      text: { stringValue: 'Zoë \u{1f600}' },
      bytes: { blobValue: Buffer.from([0, 255]), excludeFromIndexes: true },
      place: { geoPointValue: { latitude: 46.95, longitude: 7.45 } },
      key: { keyValue: key('Parent', 'p', kind, 'child') },
      inner: entity({
        x: text('1'),
        list: { arrayValue: { values: [text('a'), { nullValue: 'NULL_VALUE' as const }] } },
      }),
      empty: { arrayValue: { values: [] } },
    };
    await service.commit([upsert(key(kind, 'a'), properties)]);
    const { found } = await service.lookup([key(kind, 'a')]);
    const stored = found![0]!.entity!.properties!;
    for (const [name, value] of Object.entries(properties)) expect(stored[name]).toMatchObject(value);
  });

  declare('a key in a value gets the project of the request', async (service, kind) => {
    const bare = { path: [{ kind, name: 'b' }] };
    await service.commit([upsert(key(kind, 'a'), { ref: { keyValue: bare }, e: entity({ ref: { keyValue: bare } }) })]);
    const { found } = await service.lookup([key(kind, 'a')]);
    const { ref, e } = found![0]!.entity!.properties!;
    expect(ref!.keyValue!.partitionId!.projectId).toBe(PROJECT_ID);
    expect(e!.entityValue!.properties!['ref']!.keyValue!.partitionId!.projectId).toBe(PROJECT_ID);
  });

  declare('a timestamp is stored to the microsecond', async (service, kind) => {
    await service.commit([upsert(key(kind, 'a'), { t: { timestampValue: { seconds: 5, nanos: 1_999 } } })]);
    const { found } = await service.lookup([key(kind, 'a')]);
    expect(found![0]!.entity!.properties!['t']!.timestampValue!.nanos).toBe(1_000);
  });

  declare('allocated ids are new each time', async (service, kind) => {
    const [{ keys }] = await service.client.allocateIds({
      projectId: PROJECT_ID,
      keys: [key(kind), key('Parent', 'p', kind)],
    });
    const ids = keys!.map((each) => String(each.path!.at(-1)!.id));
    expect(new Set(ids).size).toBe(2);
    expect(keys![1]!.path![0]).toMatchObject({ kind: 'Parent', name: 'p' });
  });

  declare('an allocation for a complete key is INVALID_ARGUMENT', async (service, kind) => {
    await expectCode(CODE.invalid, service.client.allocateIds({ projectId: PROJECT_ID, keys: [key(kind, 'a')] }));
  });

  declare('ids may be reserved', async (service, kind) => {
    await expect(service.client.reserveIds({ projectId: PROJECT_ID, keys: [key(kind, 77)] })).resolves.toBeDefined();
    await expectCode(CODE.invalid, service.client.reserveIds({ projectId: PROJECT_ID, keys: [key(kind)] }));
  });

  declare('what was deleted is missing', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    await service.commit([remove(key(kind, 'a'))]);
    expect((await service.lookup([key(kind, 'a')])).missing).toHaveLength(1);
  });
}
