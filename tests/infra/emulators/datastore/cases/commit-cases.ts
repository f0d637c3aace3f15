// The four operations and their results.
import { expect } from 'vitest';
import { type Declare, expectCode, refuser } from '../declare.ts';
import { CODE, contentOf, insert, integer, key, remove, text, update, upsert, versionOf } from '../protocol-service.ts';

export function commitCases(declare: Declare): void {
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

  declare('a delete of what does not exist is fine', async (service, kind) => {
    await expect(service.commit([remove(key(kind, 'a'))])).resolves.toMatchObject({ mutationResults: [{ key: null }] });
  });

  declare('a version rises with every change', async (service, kind) => {
    const first = versionOf(await service.commit([upsert(key(kind, 'a'), { x: integer(1) })]));
    const second = versionOf(await service.commit([upsert(key(kind, 'a'), { x: integer(2) })]));
    expect(second).toBeGreaterThan(first);
  });

  declare('a write that changes nothing keeps the version', async (service, kind) => {
    const first = await service.commit([upsert(key(kind, 'a'), { x: integer(1), y: text('é') })]);
    const second = await service.commit([upsert(key(kind, 'a'), { y: text('é'), x: integer(1) })]);
    expect(versionOf(second)).toBe(versionOf(first));
  });

  declare('a version never comes back after a delete', async (service, kind) => {
    const first = versionOf(await service.commit([insert(key(kind, 'a'))]));
    const gone = versionOf(await service.commit([remove(key(kind, 'a'))]));
    const second = versionOf(await service.commit([insert(key(kind, 'a'))]));
    expect(second).toBeGreaterThan(gone);
    expect(gone).toBeGreaterThanOrEqual(first);
  });

  declare('a commit of nothing is fine', async (service) => {
    expect((await service.commit([])).mutationResults).toEqual([]);
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

  declare('the default mode needs a transaction', async (service, kind) => {
    await expectCode(CODE.invalid, service.commit([upsert(key(kind, 'a'))], {}));
  });

  declare('a non-transactional commit may not name a transaction', async (service, kind) => {
    const transaction = await service.begin();
    await expectCode(
      CODE.invalid,
      service.commit([upsert(key(kind, 'a'))], { mode: 'NON_TRANSACTIONAL', transaction }),
    );
    await service.rollback(transaction);
  });

  declare('entities of different namespaces do not meet', async (service, kind) => {
    const there = { ...key(kind, 'a'), partitionId: { projectId: 'suite', namespaceId: 'other' } };
    await service.commit([upsert(key(kind, 'a'), { x: text('here') }), upsert(there, { x: text('there') })]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: 'here' });
    expect(await contentOf(service, there)).toEqual({ x: 'there' });
  });

  declare('a result says when an entity was created and changed', async (service, kind) => {
    const first = await service.commit([insert(key(kind, 'a'))]);
    const second = await service.commit([upsert(key(kind, 'a'), { x: integer(1) })]);
    expect(second.mutationResults![0]!.createTime).toEqual(first.mutationResults![0]!.createTime);
    expect(second.mutationResults![0]!.createTime).not.toEqual(second.mutationResults![0]!.updateTime);
  });

  declare('the commit time is not set for non-transactional commits', async (service, kind) => {
    expect((await service.commit([upsert(key(kind, 'a'))])).commitTime).toBeNull();
  });
}
