// Lookups, and queries by keys: what they find, and in which batches.
import { expect } from 'vitest';
import {
  ascending,
  both,
  comparison,
  type Declare,
  insert,
  integer,
  key,
  namesOf,
  type Query,
  refuser,
  type Service,
  text,
  upsert,
} from './protocol-service.ts';

const LETTERS = ['a', 'b', 'c', 'd', 'e', 'f'];

async function store(service: Service, kind: string, names: readonly string[] = LETTERS): Promise<void> {
  await service.commit(names.map((name) => upsert(key(kind, name), { x: integer(1) })));
}

const bound = (op: Parameters<typeof comparison>[1], kind: string, name: string) =>
  comparison('__key__', op, { keyValue: key(kind, name) });

export function readCases(declare: Declare): void {
  const invalid = refuser(declare);
  declare('a lookup says what is missing, with the version of the snapshot', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    const { found, missing } = await service.lookup([key(kind, 'a'), key(kind, 'b')]);
    expect(found!.map((result) => result.entity!.key!.path![0]!.name)).toEqual(['a']);
    expect(missing!.map((result) => result.entity!.key!.path![0]!.name)).toEqual(['b']);
    expect(Number(missing![0]!.version)).toBeGreaterThanOrEqual(Number(found![0]!.version));
  });

  declare('a mask shows only what it names', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1'), y: text('1') })]);
    const { found } = await service.lookup([key(kind, 'a')], { propertyMask: { paths: ['x', 'z'] } });
    expect(Object.keys(found![0]!.entity!.properties!)).toEqual(['x']);
  });

  invalid('a lookup without an identifier', (service, kind) => service.lookup([key(kind)]));

  const finds = (title: string, queryOf: (kind: string) => Omit<Query, 'kind'>, expected: string) =>
    declare(title, async (service, kind) => {
      await store(service, kind);
      expect(namesOf(await service.query({ kind: [{ name: kind }], ...queryOf(kind) })).join('')).toBe(expected);
    });

  finds('a query of a kind finds its entities in the order of their keys', () => ({}), 'abcdef');
  finds('a bound may be one key', (kind) => ({ filter: bound('EQUAL', kind, 'c') }), 'c');
  finds('a bound may leave its key out', (kind) => ({ filter: bound('GREATER_THAN', kind, 'c') }), 'def');
  finds('a bound may hold its key', (kind) => ({ filter: bound('LESS_THAN_OR_EQUAL', kind, 'c') }), 'abc');
  finds(
    'two bounds make a range',
    (kind) => ({ filter: both(bound('GREATER_THAN_OR_EQUAL', kind, 'b'), bound('LESS_THAN', kind, 'd')) }),
    'bc',
  );
  finds(
    'bounds that leave nothing find nothing',
    (kind) => ({ filter: both(bound('GREATER_THAN', kind, 'd'), bound('LESS_THAN', kind, 'c')) }),
    '',
  );

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

  declare('a query for keys alone brings no properties', async (service, kind) => {
    await store(service, kind, ['a']);
    const batch = await service.query({ kind: [{ name: kind }], projection: [{ property: { name: '__key__' } }] });
    expect(batch.entityResultType).toBe('KEY_ONLY');
    expect(batch.entityResults![0]!.entity!.properties).toEqual({});
  });

  declare('a cursor goes on where a batch ended, also after changes around it', async (service, kind) => {
    await store(service, kind);
    const query = { kind: [{ name: kind }] };
    const first = await service.query({ ...query, limit: { value: 2 } });
    await store(service, kind, ['a2', 'b2']);
    const second = await service.query({ ...query, startCursor: first.endCursor! });
    expect([namesOf(first), namesOf(second)]).toEqual([
      ['a', 'b'],
      ['b2', 'c', 'd', 'e', 'f'],
    ]);
  });

  declare('the results after the last are none, and the answer says so', async (service, kind) => {
    await store(service, kind);
    expect((await service.query({ kind: [{ name: kind }] })).moreResults).toBe('NO_MORE_RESULTS');
    expect((await service.query({ kind: [{ name: kind }], limit: { value: 2 } })).moreResults).toBe(
      'MORE_RESULTS_AFTER_LIMIT',
    );
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

  const refused = (title: string, query: Query) =>
    invalid(title, (service, kind) => service.query({ kind: [{ name: kind }], ...query }));
  refused('a negative limit', { limit: { value: -1 } });
  refused('a negative offset', { offset: -1 });
  refused('two kinds', { kind: [{ name: 'A' }, { name: 'B' }] });
  refused('an empty kind in a query', { kind: [{ name: '' }] });
  refused('an empty filter', { filter: {} });
  refused('an AND of nothing', { filter: both() });
  refused('a key filter by something else', { filter: comparison('__key__', 'EQUAL', text('a')) });
  refused('an order by nothing', { order: [ascending('')] });
  refused('a cursor that is none', { startCursor: Buffer.from('nonsense') });
}
