// Queries: what they find, in which order, in which batches.
import { expect } from 'vitest';
import { type Declare, refuser } from '../declare.ts';
import {
  array,
  ascending,
  both,
  comparison,
  descending,
  double,
  entity,
  integer,
  key,
  namesOf,
  plain,
  type Query,
  type Service,
  text,
  upsert,
  type Value,
} from '../service.ts';

async function store(service: Service, kind: string, values: Record<string, Value>): Promise<void> {
  await service.commit(Object.entries(values).map(([name, x]) => upsert(key(kind, name), { x })));
}

const LETTERS = { a: integer(3), b: integer(1), c: integer(2), d: text('t'), e: plain('not indexed'), f: integer(2) };

function x(op: Parameters<typeof comparison>[1], value: Value) {
  return { filter: comparison('x', op, value) };
}

export function queryCases(declare: Declare): void {
  const invalid = refuser(declare);
  const finds = (title: string, query: Omit<Query, 'kind'>, expected: string) =>
    declare(title, async (service, kind) => {
      await store(service, kind, LETTERS);
      expect(namesOf(await service.query({ kind: [{ name: kind }], ...query })).join('')).toBe(expected);
    });

  finds('a query of a kind finds its entities in the order of their keys', {}, 'abcdef');
  finds('keys may be asked for in descending order', { order: [descending('__key__')] }, 'fedcba');
  finds('a filter finds what is equal', x('EQUAL', integer(2)), 'cf');
  finds(
    'inequalities order what they find, and know only indexed values',
    x('GREATER_THAN_OR_EQUAL', integer(2)),
    'cfad',
  );
  finds('less than is strict', x('LESS_THAN', integer(2)), 'b');
  finds(
    'two bounds make a range',
    { filter: both(comparison('x', 'GREATER_THAN', integer(1)), comparison('x', 'LESS_THAN', integer(3))) },
    'cf',
  );
  finds('an order leaves out what has no indexed value', { order: [ascending('x')] }, 'bcfad');
  finds('a descending order turns ties around too', { order: [descending('x')] }, 'dafcb');
  finds('an offset and a limit cut a piece out', { order: [ascending('x')], offset: 1, limit: { value: 2 } }, 'cf');
  finds('a limit of zero finds nothing', { limit: { value: 0 } }, '');

  declare('values have an order across their types', async (service, kind) => {
    const values = {
      null: { nullValue: 'NULL_VALUE' as const },
      int: integer(-3),
      time: { timestampValue: { seconds: 1 } },
      no: { booleanValue: false },
      yes: { booleanValue: true },
      text: text('a'),
      blob: { blobValue: Buffer.from('b') },
      double: double(-1.5),
      nan: double(Number.NaN),
      place: { geoPointValue: { latitude: 1, longitude: 2 } },
      key: { keyValue: key(kind, 'a') },
      inner: entity({ y: integer(1) }),
    };
    await store(service, kind, values);
    const batch = await service.query({ kind: [{ name: kind }], order: [ascending('x')] });
    expect(namesOf(batch)).toEqual([
      'null',
      'int',
      'time',
      'no',
      'yes',
      'text',
      'blob',
      'double',
      'nan',
      'place',
      'key',
    ]);
  });

  declare('ids come before names, ancestors before descendants, numbers in their order', async (service, kind) => {
    const keys = [
      key(kind, 'a'),
      key(kind, 10),
      key(kind, 9),
      key(kind, 9, kind, 'z'),
      key(kind, 'a', kind, 1),
      key(kind, 'é'),
    ];
    await service.commit(keys.map((each) => upsert(each)));
    expect(namesOf(await service.query({ kind: [{ name: kind }] }))).toEqual(['9', 'z', '10', 'a', '1', 'é']);
  });

  declare('an ancestor filter finds the entity and its descendants', async (service, kind) => {
    const parent = key('Parent', kind);
    await service.commit([
      upsert(parent),
      upsert(key('Parent', kind, kind, 'b')),
      upsert(key('Parent', kind, 'C', 'c', kind, 'd')),
      upsert(key('Parent', `${kind}0`, kind, 'x')),
    ]);
    const filter = comparison('__key__', 'HAS_ANCESTOR', { keyValue: parent });
    expect(namesOf(await service.query({ kind: [{ name: kind }], filter }))).toEqual(['d', 'b']);
    expect(namesOf(await service.query({ filter }))).toEqual([kind, 'd', 'b']);
  });

  declare('keys bound a range', async (service, kind) => {
    await store(service, kind, LETTERS);
    const range = both(
      comparison('__key__', 'GREATER_THAN', { keyValue: key(kind, 'a') }),
      comparison('__key__', 'LESS_THAN_OR_EQUAL', { keyValue: key(kind, 'd') }),
    );
    expect(namesOf(await service.query({ kind: [{ name: kind }], filter: range }))).toEqual(['b', 'c', 'd']);
  });

  declare('one element of an array is enough for a filter, two bounds need the same one', async (service, kind) => {
    await store(service, kind, { a: array(integer(1), integer(9)), b: integer(5) });
    const equal = both(comparison('x', 'EQUAL', integer(1)), comparison('x', 'EQUAL', integer(9)));
    const range = both(comparison('x', 'GREATER_THAN', integer(1)), comparison('x', 'LESS_THAN', integer(9)));
    expect(namesOf(await service.query({ kind: [{ name: kind }], filter: equal }))).toEqual(['a']);
    expect(namesOf(await service.query({ kind: [{ name: kind }], filter: range }))).toEqual(['b']);
  });

  declare('an entity with an array comes once, where its first value in the order is', async (service, kind) => {
    await store(service, kind, { a: array(integer(1), integer(9)), b: integer(5) });
    expect(namesOf(await service.query({ kind: [{ name: kind }], order: [ascending('x')] }))).toEqual(['a', 'b']);
    expect(namesOf(await service.query({ kind: [{ name: kind }], order: [descending('x')] }))).toEqual(['a', 'b']);
  });

  declare('a query for keys alone brings no properties', async (service, kind) => {
    await store(service, kind, { a: integer(1) });
    const batch = await service.query({ kind: [{ name: kind }], projection: [{ property: { name: '__key__' } }] });
    expect(batch.entityResultType).toBe('KEY_ONLY');
    expect(batch.entityResults![0]!.entity!.properties).toEqual({});
  });

  declare('a cursor goes on where a batch ended, also after changes around it', async (service, kind) => {
    await store(service, kind, LETTERS);
    const query = { kind: [{ name: kind }], order: [ascending('x')] };
    const first = await service.query({ ...query, limit: { value: 2 } });
    await service.commit([upsert(key(kind, 'b2'), { x: integer(1) })]);
    const second = await service.query({ ...query, startCursor: first.endCursor! });
    expect([namesOf(first).join(''), namesOf(second).join('')]).toEqual(['bc', 'fad']);
  });

  declare('every result has a cursor, which also ends a query', async (service, kind) => {
    await store(service, kind, LETTERS);
    const all = await service.query({ kind: [{ name: kind }] });
    const until = await service.query({ kind: [{ name: kind }], endCursor: all.entityResults![1]!.cursor! });
    expect(namesOf(until).join('')).toBe('ab');
  });

  declare('the results after the last are none, and the answer says so', async (service, kind) => {
    await store(service, kind, LETTERS);
    expect((await service.query({ kind: [{ name: kind }] })).moreResults).toBe('NO_MORE_RESULTS');
    expect((await service.query({ kind: [{ name: kind }], limit: { value: 2 } })).moreResults).toBe(
      'MORE_RESULTS_AFTER_LIMIT',
    );
  });

  declare('an offset says how much was skipped, and where', async (service, kind) => {
    await store(service, kind, LETTERS);
    const batch = await service.query({ kind: [{ name: kind }], offset: 100 });
    expect(batch).toMatchObject({ skippedResults: 6, entityResults: [] });
    expect((batch.skippedCursor as Uint8Array).length).toBeGreaterThan(0);
  });

  declare('many results come in batches that join without a gap', async (service, kind) => {
    const ids = Array.from({ length: 700 }, (_, id) => id + 1);
    for (const part of [ids.slice(0, 400), ids.slice(400)])
      await service.commit(part.map((id) => upsert(key(kind, id))));
    const found: string[] = [];
    let startCursor: Uint8Array | undefined;
    for (let batches = 0; batches < 10; batches += 1) {
      const batch = await service.query({
        kind: [{ name: kind }],
        ...(startCursor === undefined ? {} : { startCursor }),
      });
      found.push(...namesOf(batch));
      if (batch.moreResults !== 'NOT_FINISHED') break;
      startCursor = batch.endCursor as Uint8Array;
    }
    expect(found).toEqual(ids.map(String));
  });

  declare('a query in a namespace finds what is there', async (service, kind) => {
    const partitionId = { projectId: 'suite', namespaceId: 'n1' };
    await service.commit([upsert(key(kind, 'outside')), upsert({ ...key(kind, 'inside'), partitionId })]);
    expect(namesOf(await service.query({ kind: [{ name: kind }] }, { partitionId }))).toEqual(['inside']);
  });

  declare('a query shows only what its mask names', async (service, kind) => {
    await service.commit([upsert(key(kind, 'a'), { x: integer(1), y: integer(2) })]);
    const batch = await service.query({ kind: [{ name: kind }] }, { propertyMask: { paths: ['y'] } });
    expect(Object.keys(batch.entityResults![0]!.entity!.properties!)).toEqual(['y']);
  });

  const refused = (title: string, query: Query) =>
    invalid(title, (service, kind) => service.query({ kind: [{ name: kind }], ...query }));
  refused('a negative limit', { limit: { value: -1 } });
  refused('a negative offset', { offset: -1 });
  refused('two kinds', { kind: [{ name: 'A' }, { name: 'B' }] });
  refused('an empty kind in a query', { kind: [{ name: '' }] });
  refused('a filter on a property without a kind', { kind: [], filter: comparison('x', 'EQUAL', integer(1)) });
  refused('an order by a property without a kind', { kind: [], order: [ascending('x')] });
  refused('an empty filter', { filter: {} });
  refused('an AND of nothing', { filter: both() });
  refused('a filter without an operator', {
    filter: { propertyFilter: { property: { name: 'x' }, value: integer(1) } },
  });
  refused('a filter without a value', {
    filter: { propertyFilter: { property: { name: 'x' }, op: 'EQUAL', value: {} } },
  });
  refused('a filter by an unindexed value', { filter: comparison('x', 'EQUAL', plain('x')) });
  refused('a filter by an embedded entity', { filter: comparison('x', 'EQUAL', entity({})) });
  refused('a key filter by something else', { filter: comparison('__key__', 'EQUAL', text('a')) });
  refused('an ancestor of a property', { filter: comparison('x', 'HAS_ANCESTOR', { keyValue: key('A', 'a') }) });
  refused('an ancestor that is no key', { filter: comparison('__key__', 'HAS_ANCESTOR', text('a')) });
  refused('an order by nothing', { order: [ascending('')] });
  refused('a cursor that is none', { startCursor: Buffer.from('nonsense') });

  invalid('a request without a query', (service) => service.client.runQuery({ projectId: 'suite' }));
}
