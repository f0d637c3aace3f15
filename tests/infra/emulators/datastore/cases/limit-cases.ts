// The limits of keys, names, values and entities, each at its edge.
import { expect } from 'vitest';
import { type Declare, expectCode, refuser } from '../declare.ts';
import {
  blob,
  CODE,
  key,
  type Mutation,
  plain,
  type Properties,
  remove,
  text,
  update,
  upsert,
  type Value,
} from '../protocol-service.ts';

/** An entity's own 32 bytes, its key's 16 and 14 + 2, and the names b and c. */
const ENTITY_OVERHEAD_BYTES = 32 + 16 + 14 + 2 + 2 + 2;

export function limitCases(declare: Declare): void {
  const invalid = refuser(declare);
  const refused = (title: string, mutation: (kind: string) => Mutation) =>
    invalid(title, (service, kind) => service.commit([mutation(kind)]));
  const accepted = (title: string, properties: Properties) =>
    declare(`${title} is accepted`, async (service, kind) => {
      const { mutationResults } = await service.commit([upsert(key(kind, 'a'), properties)]);
      expect(mutationResults).toHaveLength(1);
    });
  const property = (title: string, properties: Properties) =>
    refused(title, (kind) => upsert(key(kind, 'a'), properties));

  accepted('an indexed value of 1,500 bytes', { x: text('é'.repeat(750)) });
  property('an indexed value of 1,501 bytes', { x: text('x'.repeat(1_501)) });
  accepted('a value of 1,501 bytes that is excluded from indexes', { x: plain('x'.repeat(1_501)) });
  accepted('an unindexed value of 1,048,487 bytes', { x: blob(1_048_487) });
  property('an unindexed value of 1,048,488 bytes', { x: blob(1_048_488) });
  property('an unindexed string of 1,048,488 bytes', { x: plain('x'.repeat(1_048_488)) });

  // With these names the kind has 13 bytes and one more.
  accepted('an entity of 1,048,572 bytes', { b: blob(500_000), c: blob(548_572 - ENTITY_OVERHEAD_BYTES) });
  property('an entity of 1,048,573 bytes', { b: blob(500_000), c: blob(548_573 - ENTITY_OVERHEAD_BYTES) });
  property('an entity of 1,048,577 bytes', { b: blob(500_000), c: blob(548_577 - ENTITY_OVERHEAD_BYTES) });

  // A name of 2 bytes, an entity of 10, a key of 20, a point of 16, a time of 8.
  const others: Value[] = [
    { entityValue: { properties: { y: { integerValue: 1 } } } },
    { keyValue: { path: [{ kind: 'A', name: 'a' }] } },
    { geoPointValue: { latitude: 1, longitude: 1 } },
    { timestampValue: { seconds: 1 } },
  ];
  const withOthers = (sizeBytes: number): Properties => ({
    b: blob(500_000),
    c: blob(sizeBytes - 500_000 - ENTITY_OVERHEAD_BYTES - 56),
    x: { arrayValue: { values: others } },
  });
  accepted('an entity of 1,048,572 bytes with values of other kinds', withOthers(1_048_572));
  property('an entity of 1,048,577 bytes with values of other kinds', withOthers(1_048_577));

  declare('a patch that makes an entity too large is INVALID_ARGUMENT and changes nothing', async (service, kind) => {
    await service.commit([upsert(key(kind, 'a'), { b: blob(600_000) })]);
    const patch = { ...update(key(kind, 'a'), { c: blob(600_000) }), propertyMask: { paths: ['c'] } };
    await expectCode(CODE.invalid, service.commit([patch]));
    const { found } = await service.lookup([key(kind, 'a')]);
    expect(Object.keys(found![0]!.entity!.properties!)).toEqual(['b']);
  });

  property('a property without a value', { x: {} });
  property('an empty property name', { '': text('x') });
  property('a property name of 1,501 bytes', { ['x'.repeat(1_501)]: text('x') });
  property('a reserved property name', { __x__: text('x') });

  refused('a name of 1,501 bytes', (kind) => upsert(key(kind, 'x'.repeat(1_501))));
  refused('a kind of 1,501 bytes', () => upsert(key('x'.repeat(1_501), 'a')));
  refused('an empty kind', () => upsert(key('', 'a')));
  refused('an empty name', (kind) => upsert(key(kind, '')));
  refused('the id zero', (kind) => upsert(key(kind, 0)));
  refused('a reserved kind', () => upsert(key('__k__', 'a')));
  refused('a reserved name', (kind) => upsert(key(kind, '__a__')));
  refused('an entity without a key', () => ({ upsert: { properties: {} } }));
  refused('an empty path', () => ({ upsert: { key: { path: [] } } }));
  refused('a path of 101 elements', (kind) => upsert(key(...Array.from({ length: 101 }, () => [kind, 'a']).flat())));
  refused('a key of more than 6 KiB', (kind) =>
    upsert(key(...Array.from({ length: 5 }, () => [kind, 'x'.repeat(1_400)]).flat())),
  );
  refused('an update without an identifier', (kind) => update(key(kind)));
  refused('a delete without an identifier', (kind) => remove(key(kind)));
  refused('a parent without an identifier', (kind) => ({
    upsert: { key: { partitionId: { projectId: 'suite' }, path: [{ kind }, { kind, name: 'a' }] } },
  }));
  refused('a key of another project', (kind) => upsert({ ...key(kind, 'a'), partitionId: { projectId: 'other' } }));
  refused('an illegal namespace', (kind) =>
    upsert({ ...key(kind, 'a'), partitionId: { projectId: 'suite', namespaceId: 'a b' } }),
  );
  refused('a reserved namespace', (kind) =>
    upsert({ ...key(kind, 'a'), partitionId: { projectId: 'suite', namespaceId: '__n__' } }),
  );

  declare('more than 1,000 keys in a lookup are INVALID_ARGUMENT', async (service, kind) => {
    await expectCode(CODE.invalid, service.lookup(Array.from({ length: 1_001 }, (_, id) => key(kind, id + 1))));
  });

  declare('a request of more than 10 MiB is INVALID_ARGUMENT', async (service, kind) => {
    const mutations = Array.from({ length: 11 }, (_, id) => upsert(key(kind, id + 1), { x: blob(1_000_000) }));
    await expectCode(CODE.invalid, service.commit(mutations));
  });

  declare('a request of 9 MB is accepted', async (service, kind) => {
    const mutations = Array.from({ length: 9 }, (_, id) => upsert(key(kind, id + 1), { x: blob(1_000_000) }));
    expect((await service.commit(mutations)).mutationResults).toHaveLength(9);
  });

  invalid('a request without a project', (service, kind) => service.lookup([key(kind, 'a')], { projectId: '' }));

  invalid('the database "(default)"', (service, kind) => service.lookup([key(kind, 'a')], { databaseId: '(default)' }));
}
