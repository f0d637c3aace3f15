// Transactions: what they see, what aborts them, how they end.
import { expect } from 'vitest';
import { type Declare, expectCode } from '../declare.ts';
import {
  at,
  CODE,
  contentOf,
  freshKind,
  insert,
  integer,
  key,
  remove,
  type Service,
  text,
  update,
  upsert,
  versionOf,
} from '../protocol-service.ts';

/** A transaction that has read `a`. */
async function begunWith(service: Service, kind: string): Promise<Uint8Array> {
  const transaction = await service.begin();
  await service.lookup([key(kind, 'a')], within(transaction));
  return transaction;
}

const within = (transaction: Uint8Array) => ({ readOptions: { transaction } });

export function transactionCases(declare: Declare): void {
  declare('a transaction applies all its mutations', async (service, kind) => {
    await service.commitIn(await service.begin(), [upsert(key(kind, 'a')), upsert(key(kind, 'b'))]);
    expect((await service.lookup([key(kind, 'a'), key(kind, 'b')])).found).toHaveLength(2);
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

  declare('an entity that was missing and has come aborts the commit', async (service, kind) => {
    const transaction = await begunWith(service, kind);
    await service.commit([insert(key(kind, 'a'))]);
    await expectCode(CODE.aborted, service.commitIn(transaction, [upsert(key(kind, 'b'))]));
  });

  declare('an entity that was there and is gone aborts the commit', async (service, kind) => {
    await service.commit([insert(key(kind, 'a'))]);
    const transaction = await begunWith(service, kind);
    await service.commit([remove(key(kind, 'a'))]);
    await expectCode(CODE.aborted, service.commitIn(transaction, [upsert(key(kind, 'b'))]));
  });

  declare('a change of what was not read does not abort', async (service, kind) => {
    await service.commit([insert(key(kind, 'a')), insert(key(kind, 'b'))]);
    const transaction = await begunWith(service, kind);
    await service.commit([update(key(kind, 'b'), { x: integer(2) })]);
    await service.commitIn(transaction, [update(key(kind, 'a'), { x: integer(1) })]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: 1 });
  });

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

  declare('a rollback of what has ended is fine', async (service, kind) => {
    const transaction = await service.begin();
    await service.commitIn(transaction, [upsert(key(kind, 'a'))]);
    await expect(service.rollback(transaction)).resolves.toBeDefined();
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

  declare('a commit may be a transaction of its own, with a commit time', async (service, kind) => {
    const single = { mode: 'TRANSACTIONAL' as const, singleUseTransaction: { readWrite: {} } };
    const { commitTime } = await service.commit([upsert(key(kind, 'a')), upsert(key(kind, 'b'))], single);
    expect(Number(commitTime!.seconds)).toBeGreaterThan(0);
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

  declare('base versions count in transactions too', async (service, kind) => {
    const version = versionOf(await service.commit([insert(key(kind, 'a'))]));
    await service.commit([update(key(kind, 'a'), { x: integer(1) })]);
    const stale = { ...update(key(kind, 'a'), { x: integer(2) }), ...at(version) };
    await expectCode(
      CODE.precondition,
      service.commitIn(await service.begin(), [upsert(key(freshKind(), 'b')), stale]),
    );
  });
}
