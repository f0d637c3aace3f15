// Values of all kinds: what is stored comes back, as the service completes it; ids that it chooses;
// and the limits of keys, names, values and entities, each at its edge.
import { expect } from 'vitest';
import {
  blob,
  CODE,
  type Declare,
  expectCode,
  insert,
  integer,
  key,
  type Mutation,
  plain,
  type Properties,
  refuser,
  remove,
  type Service,
  text,
  update,
  upsert,
  type Value,
} from './protocol-service.ts';

const LONG = 'x'.repeat(1_501);

const array = (...values: Value[]): Value => ({ arrayValue: { values } });
const embedded = (properties: Record<string, Value>): Value => ({ entityValue: { properties } });
const moment = (seconds: number, nanos = 0): Value => ({ timestampValue: { seconds, nanos } });
const point = (latitude: number, longitude: number): Value => ({ geoPointValue: { latitude, longitude } });
const reference = (...path: { kind: string; id?: number; name?: string }[]): Value => ({ keyValue: { path } });
const nested = (depth: number): Value => (depth === 0 ? text('end') : embedded({ e: nested(depth - 1) }));

async function storedValue(service: Service, kind: string, value: Value): Promise<Value> {
  await service.commit([upsert(key(kind, 'a'), { x: value })]);
  const { found } = await service.lookup([key(kind, 'a')]);
  return found![0]!.entity!.properties!['x']!;
}

/** An entity's own 32 bytes, its key's 16 and 14 + 2, and the names b and c. */
const ENTITY_OVERHEAD_BYTES = 32 + 16 + 14 + 2 + 2 + 2;

export function valueCases(declare: Declare): void {
  const invalid = refuser(declare);
  const returned = (title: string, value: Value, expected: object = value) =>
    declare(`${title} comes back`, async (service, kind) => {
      expect(await storedValue(service, kind, value)).toMatchObject(expected);
    });
  const refusedValue = (title: string, value: Value) =>
    invalid(title, (service, kind) => service.commit([upsert(key(kind, 'a'), { x: value })]));
  const partitionId = { projectId: 'suite', namespaceId: '' };

  returned('null', { nullValue: 'NULL_VALUE' });
  returned('a boolean', { booleanValue: true });
  returned('a large integer', { integerValue: '-9223372036854775808' });
  returned('text beyond ASCII', text('Zoë \u{1f600}'));
  returned('a double', { doubleValue: -0.5 });
  returned('an indexed blob', { blobValue: Buffer.from([0, 255]) });
  returned('the first second of the year 1', moment(-62_135_596_800), { timestampValue: { seconds: '-62135596800' } });
  returned('a time, rounded down to microseconds,', moment(5, 123_456_789), { timestampValue: { nanos: 123_456_000 } });
  returned('a point', point(90, -180));
  returned('an empty array', array());
  returned('an excluded text in an array', array(plain(LONG)));
  returned('an entity without a key', embedded({ y: plain(LONG) }));
  returned('an entity in an entity, excluded,', { ...nested(20), excludeFromIndexes: true });
  returned('a key, with the request’s project,', reference({ kind: 'A', name: 'a' }), {
    keyValue: { partitionId, path: [{ kind: 'A', name: 'a' }] },
  });
  returned(
    'a key of another project',
    {
      keyValue: { partitionId: { projectId: 'other' }, path: [{ kind: '__A__', id: 1 }] },
    },
    { keyValue: { partitionId: { projectId: 'other' } } },
  );

  refusedValue('an array in an array', array(array()));
  refusedValue('an excluded array', { ...array(integer(1)), excludeFromIndexes: true });
  refusedValue('an array with a value without content', array({}));
  refusedValue('a long indexed text in an array', array(text(LONG)));
  refusedValue('a reserved name in an embedded entity', embedded({ __y__: integer(1) }));
  refusedValue('the 21st entity in an entity', nested(21));
  refusedValue('a value that is an incomplete key', reference({ kind: 'A' }));
  refusedValue('a latitude of 91', point(91, 0));
  refusedValue('a longitude that is no number', point(0, NaN));
  refusedValue('a time before the year 1', moment(-62_135_596_801));
  refusedValue('a time after the year 9999', moment(253_402_300_800));
  refusedValue('a time with a billion nanoseconds', moment(1, 1e9));

  declare('an insert and an upsert without an identifier are given one', async (service, kind) => {
    const { mutationResults } = await service.commit([
      insert(key(kind)),
      upsert(key(kind, 'p', kind), { x: integer(1) }),
    ]);
    const keys = mutationResults!.map((result) => result.key!);
    expect(keys.map(({ path }) => path!.map(({ id }) => id !== undefined))).toEqual([[true], [false, true]]);
    expect((await service.lookup(keys)).found).toHaveLength(2);
  });

  declare('ids are allocated for incomplete keys, each one once', async (service, kind) => {
    const keys = Array.from({ length: 20 }, () => key(kind));
    const [{ keys: given }] = await service.client.allocateIds({ projectId: 'suite', keys });
    expect(new Set(given!.map(({ path }) => String(path![0]!.id))).size).toBe(20);
  });

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
  refused('a key of another project', (kind) => upsert({ ...key(kind, 'a'), partitionId: { projectId: 'other' } }));
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

  invalid('a request without a project', (service, kind) => service.lookup([key(kind, 'a')], { projectId: '' }));

  invalid('the database "(default)"', (service, kind) => service.lookup([key(kind, 'a')], { databaseId: '(default)' }));
}
