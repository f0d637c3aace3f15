import { expect, test } from 'vitest';
import { measured } from '../../shared/drivers/measured.ts';
import { memoryDriver, type MemoryFaults } from '../../shared/drivers/memory.ts';
import { CALL, insert, part, patch } from '../../shared/drivers/conformance/check-calls.ts';
import { entityId, entityVersion } from '../support/ids.ts';
import { READ } from './one-of-each.ts';

test('calls, entities and bytes are counted both ways', async () => {
  const { driver, counters } = measured(memoryDriver());
  await driver.write([insert(entityId('a'), [part('h', 'four')]), insert(entityId('b'), [part('h', 'three')])], CALL);
  await driver.read(
    ['a', 'b', 'c'].map((id) => ({ id: entityId(id), parts: 'all' })),
    CALL,
  );
  await driver.list('', undefined, 10, CALL);
  expect(counters).toMatchObject({ writeCalls: 1, inserts: 2, entitiesWritten: 2, bytesWritten: 9 });
  expect(counters).toMatchObject({ readCalls: 1, entitiesAsked: 3, bytesRead: 9 });
  expect(counters).toMatchObject({ listCalls: 1 });
});

test('refusals, unknowns and throttles are told apart', async () => {
  let throttle: 'fail' | 'refuse' | undefined;
  const faults: MemoryFaults = () => (throttle === undefined ? undefined : { [throttle]: 'throttled' });
  const { driver, counters } = measured(memoryDriver({ faults }));
  await driver.write([patch(entityId('missing'), entityVersion('v1'), [part('h', 'x')])], CALL);
  for (throttle of ['refuse', 'fail'] as const) await driver.write([insert(entityId('a'), [part('h', 'x')])], CALL);
  await expect(driver.read(READ, CALL)).rejects.toMatchObject({ code: 'throttled' });
  expect(counters).toMatchObject({ refusedCondition: 1, unknown: 1, throttled: 3 });
});
