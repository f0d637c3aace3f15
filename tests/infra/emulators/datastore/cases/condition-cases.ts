// Base versions, masks: the conditional writes and the patches.
import { expect } from 'vitest';
import { type Declare, expectCode, refuser } from '../declare.ts';
import {
  at,
  CODE,
  contentOf,
  insert,
  integer,
  key,
  remove,
  text,
  update,
  upsert,
  versionOf,
} from '../protocol-service.ts';

export function conditionCases(declare: Declare): void {
  const invalid = refuser(declare);
  declare('a write at the current version is applied', async (service, kind) => {
    const version = versionOf(await service.commit([insert(key(kind, 'a'), { x: integer(1) })]));
    await service.commit([{ ...update(key(kind, 'a'), { x: integer(2) }), ...at(version) }]);
    expect(await contentOf(service, key(kind, 'a'))).toEqual({ x: 2 });
  });

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

  declare('a masked write that changes nothing keeps the version', async (service, kind) => {
    const version = versionOf(await service.commit([insert(key(kind, 'a'), { x: text('1'), y: text('1') })]));
    const patch = { ...update(key(kind, 'a'), { x: text('1') }), propertyMask: { paths: ['x'] } };
    expect(versionOf(await service.commit([patch]))).toBe(version);
  });

  invalid('an empty path in a mask', (service, kind) =>
    service.commit([{ ...upsert(key(kind, 'a')), propertyMask: { paths: [''] } }]),
  );
}
