// Commits: the four operations, conditions and masks; and transactions: what they see, what aborts
// them, how they end.
import { expect } from 'vitest';
import {
  at,
  CODE,
  contentOf,
  type Declare,
  expectCode,
  insert,
  integer,
  key,
  refuser,
  remove,
  type Service,
  text,
  update,
  upsert,
  versionOf,
} from './protocol-service.ts';

/** A transaction that has read `a`. */
async function begunWith(service: Service, kind: string): Promise<Uint8Array> {
  const transaction = await service.begin();
  await service.lookup([key(kind, 'a')], within(transaction));
  return transaction;
}

type Write = typeof remove;

const within = (transaction: Uint8Array) => ({ readOptions: { transaction } });

export function writeCases(declare: Declare): void {
  const invalid = refuser(declare);
  declare('an insert of what exists is ALREADY_EXISTS and changes nothing', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1') })]);
    await expectCode(CODE.exists, service.commit([insert(key(kind, 'a'), { x: text('2') })]));
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: '1' });
  });

  declare('an update of what does not exist is NOT_FOUND and creates nothing', async (service, kind) => {
    await expectCode(CODE.notFound, service.commit([update(key(kind, 'a'))]));
    expect(await contentOf(service, key(kind, 'a'))).toBeUndefined();
  });

  declare('an upsert replaces all properties', async (service, kind) => {
    await service.commit([upsert(key(kind, 'a'), { x: text('1'), y: text('1') })]);
    await service.commit([upsert(key(kind, 'a'), { x: text('2') })]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: '2' });
  });

  declare('a write that changes nothing keeps the version', async (service, kind) => {
    const first = await service.commit([upsert(key(kind, 'a'), { x: integer(1), y: text('é') })]);
    const second = await service.commit([upsert(key(kind, 'a'), { y: text('é'), x: integer(1) })]);
    expect(versionOf(second)).toBe(versionOf(first));
  });

  declare('a version rises with every change, and never comes back after a delete', async (service, kind) => {
    const a = key(kind, 'a');
    const versions: number[] = [];
    for (const mutation of [insert(a), upsert(a, { x: integer(2) }), remove(a), insert(a)])
      versions.push(versionOf(await service.commit([mutation])));
    const [first, second, gone, again] = versions as [number, number, number, number];
    expect([second > first, gone >= second, again > gone]).toEqual([true, true, true]);
  });

  declare('no entity may be in a non-transactional commit twice', async (service, kind) => {
    const twice = [upsert(key(kind, 'a'), { x: integer(1) }), remove(key(kind, 'a'))];
    await expectCode(CODE.invalid, service.commit(twice));
    expect(await contentOf(service, key(kind, 'a'))).toBeUndefined();
  });

  declare('a non-transactional commit that fails has applied what stood before', async (service, kind) => {
    await service.commit([insert(key(kind, 'b'))]);
    const mutations = [upsert(key(kind, 'a')), insert(key(kind, 'b')), upsert(key(kind, 'c'))];
    await expectCode(CODE.exists, service.commit(mutations));
    expect(await contentOf(service, key(kind, 'a'))).toEqual({});
    expect(await contentOf(service, key(kind, 'c'))).toBeUndefined();
  });

  declare('a mutation that is malformed keeps the whole commit from being applied', async (service, kind) => {
    await expectCode(CODE.invalid, service.commit([upsert(key(kind, 'a')), upsert(key('', 'b'))]));
    expect(await contentOf(service, key(kind, 'a'))).toBeUndefined();
  });

  invalid('a mutation without an operation', (service) => service.commit([{}]));

  declare('a write at an old version with FAIL is FAILED_PRECONDITION and changes nothing', async (service, kind) => {
    const version = versionOf(await service.commit([insert(key(kind, 'a'), { x: integer(1) })]));
    await service.commit([update(key(kind, 'a'), { x: integer(2) })]);
    for (const stale of [update(key(kind, 'a'), { x: integer(3) }), remove(key(kind, 'a'))])
      await expectCode(CODE.precondition, service.commit([{ ...stale, ...at(version) }]));
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: 2 });
  });

  declare('base version zero means: there must be no entity', async (service, kind) => {
    await service.commit([{ ...upsert(key(kind, 'a')), ...at(0) }]);
    await expectCode(CODE.precondition, service.commit([{ ...upsert(key(kind, 'a'), { x: integer(1) }), ...at(0) }]));
  });

  declare('a write at a version of what is gone is FAILED_PRECONDITION', async (service, kind) => {
    const version = versionOf(await service.commit([insert(key(kind, 'a'))]));
    await service.commit([remove(key(kind, 'a'))]);
    for (const late of [update(key(kind, 'a')), upsert(key(kind, 'a')), remove(key(kind, 'a'))])
      await expectCode(CODE.precondition, service.commit([{ ...late, ...at(version) }]));
  });

  invalid('a strategy without a base version', (service, kind) =>
    service.commit([{ ...upsert(key(kind, 'a')), conflictResolutionStrategy: 'FAIL' }]),
  );

  declare('an insert at a version and an update at version zero are INVALID_ARGUMENT', async (service, kind) => {
    await expectCode(CODE.invalid, service.commit([{ ...insert(key(kind, 'a')), ...at(7) }]));
    await expectCode(CODE.invalid, service.commit([{ ...update(key(kind, 'a')), ...at(0) }]));
  });

  declare('a mask leaves the properties outside alone', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1'), y: text('1') })]);
    await service.commit([
      { ...update(key(kind, 'a'), { x: text('2'), y: text('2') }), propertyMask: { paths: ['x'] } },
    ]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: '2', y: '1' });
  });

  declare('a property in the mask that is not given is deleted', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('1'), y: text('1') })]);
    await service.commit([{ ...update(key(kind, 'a'), {}), propertyMask: { paths: ['x'] } }]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ y: '1' });
  });

  declare('a transaction that fails applies none of its mutations', async (service, kind) => {
    await service.commit([insert(key(kind, 'b'), { x: integer(1) })]);
    const mutations = [upsert(key(kind, 'a')), insert(key(kind, 'b2')), insert(key(kind, 'b'))];
    await expectCode(CODE.exists, service.commitIn(await service.begin(), mutations));
    expect((await service.lookup([key(kind, 'a'), key(kind, 'b2')])).found).toEqual([]);
    expect(await contentOf(service, key(kind, 'b'))).toEqual({ x: 1 });
  });

  declare('a read of what another changes meanwhile aborts the commit', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: integer(1) })]);
    const transaction = await begunWith(service, kind);
    await service.commit([update(key(kind, 'a'), { x: integer(2) })]);
    await expectCode(CODE.aborted, service.commitIn(transaction, [update(key(kind, 'a'), { x: integer(3) })]));
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: 2 });
  });

  const aborting = (title: string, before: readonly Write[], after: Write) =>
    declare(`${title} aborts the commit`, async (service, kind) => {
      await service.commit(before.map((write) => write(key(kind, 'a'))));
      const transaction = await begunWith(service, kind);
      await service.commit([after(key(kind, 'a'))]);
      await expectCode(CODE.aborted, service.commitIn(transaction, [upsert(key(kind, 'b'))]));
    });
  aborting('an entity that was missing and has come', [], insert);
  aborting('an entity that was there and is gone', [insert], remove);

  declare('a transaction reads the state of its beginning', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'), { x: text('old') }), insert(key(kind, 'gone'))]);
    const transaction = await service.begin();
    await service.lookup([key(kind, 'other')], { readOptions: { transaction } });
    await service.commit([update(key(kind, 'a'), { x: text('new') }), remove(key(kind, 'gone'))]);
    const { found } = await service.lookup([key(kind, 'a'), key(kind, 'gone')], { readOptions: { transaction } });
    expect(found!.map(({ entity }) => entity!.properties!['x']?.stringValue)).toEqual(['old', undefined]);
    await service.rollback(transaction);
  });

  declare('a transaction that was committed or rolled back is INVALID_ARGUMENT from then on', async (service, kind) => {
    const committed = await service.begin();
    await service.commitIn(committed, [upsert(key(kind, 'a'))]);
    await expectCode(CODE.invalid, service.commitIn(committed, [upsert(key(kind, 'a'), { x: integer(1) })]));
    const rolledBack = await service.begin();
    await service.rollback(rolledBack);
    await expectCode(CODE.invalid, service.lookup([key(kind, 'a')], { readOptions: { transaction: rolledBack } }));
  });

  declare('an id of no transaction is INVALID_ARGUMENT', async (service, kind) => {
    const nobody = Buffer.from('nobody');
    await expectCode(CODE.invalid, service.commitIn(nobody, [upsert(key(kind, 'a'))]));
    await expectCode(CODE.invalid, service.rollback(nobody));
    await expectCode(CODE.invalid, service.rollback(Buffer.alloc(0)));
  });

  declare('a read may begin a transaction', async (service, kind) => {
    const { transaction } = await service.lookup([key(kind, 'a')], {
      readOptions: { newTransaction: { readWrite: {} } },
    });
    await service.commitIn(transaction as Uint8Array, [upsert(key(kind, 'a'))]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({});
  });

  declare('mutations of one entity are applied in order', async (service, kind) => {
    const a = key(kind, 'a');
    const mutations = [
      insert(a, { x: integer(1) }),
      update(a, { x: integer(2) }),
      remove(a),
      upsert(a, { x: integer(3) }),
    ];
    await service.commitIn(await service.begin(), mutations);
    expect(await contentOf(service, a)).toEqual({ x: 3 });
  });

  declare('sequences that make no sense are INVALID_ARGUMENT', async (service, kind) => {
    const a = key(kind, 'a');
    for (const sequence of [
      [insert(a), insert(a)],
      [upsert(a), insert(a)],
      [remove(a), update(a)],
    ])
      await expectCode(CODE.invalid, service.commitIn(await service.begin(), sequence));
  });
}
