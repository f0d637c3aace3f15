// A transaction of Azure that is refused for one member's form or size says nothing about the
// others: sent alone, they are written.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startStrictAzurite } from '../../infra/emulators/azurite.ts';
import type { EntityId, Write } from '../../shared/store/contract/driver.ts';
import {
  CALL,
  freshPrefix,
  idsOfOneLane,
  insert,
  part,
  patch,
  readOne,
  textOf,
  written,
} from '../conformance/harness.ts';
import { closedAfterEach } from '../support/opened.ts';
import { azureAt, TRANSPORTS } from './emulated.ts';

const azurite = await startStrictAzurite();
const opened = closedAfterEach();

afterEach(() => azurite.faults.clear());
afterAll(() => azurite.close());

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  const newDriver = () => opened(azureAt(transport, azurite.endpoint, `transactions${transport}`));

  test.each([
    [400, 'InvalidInput', 'invalid'],
    [400, 'EntityTooLarge', 'limit'],
    [413, 'RequestBodyTooLarge', 'limit'],
  ] as const)(
    'rule 1: %i %s for one member is refused (%s) of nobody; alone each is told',
    async (status, code, reason) => {
      const driver = newDriver();
      const [bad, good] = idsOfOneLane(driver, freshPrefix(), 2) as [EntityId, EntityId];
      const writes: Write[] = [];
      for (const id of [bad, good]) {
        const version = await written(driver, insert(id, [part('h', 'old')]));
        writes.push(patch(id, version, [part('h', 'new', 1)]));
      }
      azurite.faults.add({ operation: 'merge', rowKey: bad, status, code, when: 'before' });
      const together = await driver.write(writes, CALL);
      expect(together).toMatchObject([
        { kind: 'unknown', reason: 'other' },
        { kind: 'unknown', reason: 'other' },
      ]);
      expect(textOf(await readOne(driver, good))).toEqual({ h: 'old' });
      expect(await driver.write([writes[0]!], CALL)).toMatchObject([{ kind: 'refused', reason }]);
      expect(await driver.write([writes[1]!], CALL)).toMatchObject([{ kind: 'written' }]);
      expect(textOf(await readOne(driver, good))).toEqual({ h: 'new' });
      expect(textOf(await readOne(driver, bad))).toEqual({ h: 'old' });
    },
  );

  test.each([
    [403, 'AuthorizationFailure', 'denied'],
    [503, 'ServerBusy', 'throttled'],
  ] as const)('rule 1: a transaction turned away with %i %s is refused (%s) of all', async (status, code, reason) => {
    const driver = newDriver();
    const ids = idsOfOneLane(driver, freshPrefix(), 2);
    azurite.faults.add({ rowKey: ids[0]!, status, code, when: 'before' });
    const refused = { kind: 'refused', reason };
    const writes = ids.map((id) => insert(id, [part('h', 'x')]));
    expect(await driver.write(writes, CALL)).toMatchObject([refused, refused]);
    azurite.faults.clear();
    for (const id of ids) expect(await readOne(driver, id)).toBeUndefined();
  });

  test('rule 1: of several writes of which one is too large none is sent, and none is called refused', async () => {
    const driver = newDriver();
    const { chunksMax } = driver.limits;
    const [bad, good] = idsOfOneLane(driver, freshPrefix(), 2) as [EntityId, EntityId];
    // Within the bytes of a request, and of too many parts for an entity.
    const parts = Array.from({ length: chunksMax + 1 }, (_, number) => part(`p${number}`, 'x'));
    expect(await driver.write([insert(bad, parts)], CALL)).toMatchObject([{ kind: 'refused', reason: 'limit' }]);
    const together = await driver.write([insert(bad, parts), insert(good, [part('h', 'x')])], CALL);
    expect(together.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
    expect(await readOne(driver, good)).toBeUndefined();
  });
});
