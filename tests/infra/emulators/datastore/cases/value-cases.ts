// Values of all kinds: what is stored comes back, as the service completes it; and ids it chooses.
import { expect } from 'vitest';
import { type Declare, refuser } from '../declare.ts';
import { insert, integer, key, plain, type Service, text, upsert, type Value, versionOf } from '../protocol-service.ts';

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

export function valueCases(declare: Declare): void {
  const invalid = refuser(declare);
  const returned = (title: string, value: Value, expected: object = value) =>
    declare(`${title} comes back`, async (service, kind) => {
      expect(await storedValue(service, kind, value)).toMatchObject(expected);
    });
  const refused = (title: string, value: Value) =>
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
  returned('an array of different kinds', array(text('a'), moment(5), embedded({ y: array(text('b')) })), {
    arrayValue: {
      values: [
        text('a'),
        { timestampValue: { seconds: '5' } },
        { entityValue: { properties: { y: { arrayValue: { values: [text('b')] } } } } },
      ],
    },
  });
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
  returned(
    'an incomplete key of an embedded entity',
    { entityValue: { key: { path: [{ kind: 'A' }] } } },
    {
      entityValue: { key: { partitionId, path: [{ kind: 'A' }] } },
    },
  );

  refused('an array in an array', array(array()));
  refused('an excluded array', { ...array(integer(1)), excludeFromIndexes: true });
  refused('an array with a value without content', array({}));
  refused('a long indexed text in an array', array(text(LONG)));
  refused('a long indexed text in an excluded entity', { ...embedded({ y: text(LONG) }), excludeFromIndexes: true });
  refused('a reserved name in an embedded entity', embedded({ __y__: integer(1) }));
  refused('the 21st entity in an entity', nested(21));
  refused('a value that is an incomplete key', reference({ kind: 'A' }));
  refused('a latitude of 91', point(91, 0));
  refused('a longitude that is no number', point(0, NaN));
  refused('a time before the year 1', moment(-62_135_596_801));
  refused('a time after the year 9999', moment(253_402_300_800));
  refused('a time with a billion nanoseconds', moment(1, 1e9));

  declare('a write of the same times, keys and entities keeps the version', async (service, kind) => {
    const write = () =>
      service.commit([
        upsert(key(kind, 'a'), { x: array(moment(5, 1_001), reference({ kind: 'A', id: 1 })), y: nested(2) }),
      ]);
    expect(versionOf(await write())).toBe(versionOf(await write()));
  });

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
  const allocated = (title: string, path: string[]) =>
    invalid(title, (service) => service.client.allocateIds({ projectId: 'suite', keys: [key(...path)] }));
  allocated('an allocation for a complete key', ['A', 'a']);
  allocated('an allocation for a reserved kind', ['__A__']);
}
