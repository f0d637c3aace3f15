// The modelled driver: the contract's suite, its requests, and each provider's bill for them.
import { describe, expect, test } from 'vitest';
import { memoryState } from '../../../../shared/drivers/memory.ts';
import { modelledDriver } from '../../../../shared/lab/cloud/service/driver.ts';
import { PlainTable, plainState } from '../../../../shared/lab/cloud/service/plain.ts';
import { type Provider, PROVIDERS } from '../../../../shared/lab/kit/dimensions.ts';
import type { ModelledService } from '../../../../shared/lab/cloud/service/service.ts';
import { BATCHING } from '../../../../shared/lab/work/baseline.ts';
import type { Driver, EntityId, EntityVersion, Write } from '../../../../shared/store/contract/driver.ts';
import { idsOfOneLane } from '../../../conformance/harness.ts';
import { conformance } from '../../../conformance/conformance.ts';
import { entityId, partName } from '../../../support/ids.ts';
import { inTime, modifyAtLast, stillService } from './modelled.ts';

const TIMED = { 'network.oneWayMs.median': 0.5, 'commit.sigma': 0.6, 'get.sigma': 0.6, 'list.sigma': 0.6 };

/** A driver whose service's time passes while a call is under way. */
function driven(service: ModelledService): Driver {
  const driver = modelledDriver(service, memoryState());
  let underWay = 0;
  let pumping: Promise<void> | undefined;
  const pump = async (): Promise<void> => {
    await service.scheduler.pass(1);
    pumping = underWay > 0 ? pump() : undefined;
  };
  const through = async <T>(call: Promise<T>): Promise<T> => {
    underWay += 1;
    pumping ??= pump();
    return call.finally(() => (underWay -= 1));
  };
  return {
    limits: driver.limits,
    read: (...call) => through(driver.read(...call)),
    write: (...call) => through(driver.write(...call)),
    remove: (...call) => through(driver.remove(...call)),
    list: (...call) => through(driver.list(...call)),
    close: () => driver.close(),
  };
}

conformance('modelled datastore', {
  open: () => driven(stillService('datastore', { ...TIMED, 'contention.holdShare': 0.7 })),
  atomic: false,
  deviations: [],
});
conformance('modelled azure-tables', {
  open: () => driven(stillService('azure-tables', TIMED)),
  atomic: true,
  deviations: [],
});

const CALL = { timeoutMs: 10_000 };

function insert(id: EntityId): Write {
  return { kind: 'insert', id, parts: [{ name: partName('h'), bytes: Buffer.alloc(100), chunksBefore: 0 }] };
}

async function spent(provider: Provider, work: (driver: Driver) => Promise<unknown>) {
  const service = stillService(provider);
  await service.scheduler.run(work(modelledDriver(service, memoryState())), 100_000);
  const { requests, billable, conflicts } = service.counters;
  return { requests, ...billable, conflicts };
}

const writeFive = async (driver: Driver): Promise<readonly EntityVersion[]> => {
  const outcomes = await driver.write(idsOfOneLane(driver, 'e', 5).map(insert), CALL);
  return outcomes.map((outcome) => (outcome as Extract<typeof outcome, { kind: 'written' }>).version);
};

async function writeAndRemove(driver: Driver): Promise<void> {
  const versions = await writeFive(driver);
  const removals = idsOfOneLane(driver, 'e', 5).map((id, at) => ({ id, version: versions[at]! }));
  expect(await driver.remove(removals, CALL)).toEqual(removals.map(() => ({ kind: 'removed' })));
}

async function listAll(driver: Driver): Promise<void> {
  let cursor = undefined;
  do {
    ({ cursor } = await driver.list('e', cursor, 10, CALL));
  } while (cursor !== undefined);
}

async function insertTwice(driver: Driver): Promise<void> {
  await driver.write([insert(entityId('a'))], CALL);
  const [second] = await driver.write([insert(entityId('a'))], CALL);
  expect(second).toMatchObject({ kind: 'refused', reason: 'condition' });
}

describe('what is billed', () => {
  test('Datastore: each entity of a commit; Azure: a group transaction once', async () => {
    const none = { reads: 0, deletes: 0, conflicts: 0 };
    expect(await spent('datastore', writeFive)).toEqual({ ...none, requests: 1, writes: 5 });
    expect(await spent('azure-tables', writeFive)).toEqual({ ...none, requests: 1, writes: 1 });
  });

  test('Datastore: removals share a commit, and each counts; Azure: a request each', async () => {
    const none = { reads: 0, conflicts: 0 };
    expect(await spent('datastore', writeAndRemove)).toEqual({ ...none, requests: 2, writes: 5, deletes: 5 });
    expect(await spent('azure-tables', writeAndRemove)).toEqual({ ...none, requests: 6, writes: 1, deletes: 5 });
  });

  test('Datastore: a read for each entity of a lookup, found or not, whole and in part by lookups of their own', async () => {
    const reads = ['a', 'b', 'c'].map(
      (id) => ({ id: entityId(id), parts: id === 'a' ? 'all' : [partName('h')] }) as const,
    );
    expect(await spent('datastore', (driver) => driver.read(reads, CALL))).toMatchObject({ requests: 2, reads: 3 });
  });

  test('a listing: Datastore one read a page, Azure one a partition', async () => {
    expect(await spent('datastore', listAll)).toMatchObject({ requests: 1, reads: 1 });
    expect(await spent('azure-tables', listAll)).toMatchObject({ requests: 64, reads: 64 });
  });

  test('a conflict is counted, and billed', async () => {
    for (const provider of PROVIDERS)
      expect(await spent(provider, insertTwice)).toMatchObject({ requests: 2, writes: 2, conflicts: 1 });
  });

  test.each([
    ['datastore', 500, 500],
    ['azure-tables', 100, 1],
  ] as const)('plain tables on %s: %i records a request, billed as %i', async (provider, records, writes) => {
    const service = stillService(provider);
    const items = Array.from({ length: BATCHING[provider].putManyMax }, (_, at) => ({ key: `k${at}`, bytes: 500 }));
    await inTime(service, new PlainTable(service, plainState()).putMany(items));
    expect(service.counters).toMatchObject({ requests: 1, bytesWritten: records * 500 });
    expect(service.counters.billable.writes).toBe(writes);
  });
});

describe('a plain table', () => {
  test('reads what was written, and what is made up until then', async () => {
    const service = stillService('datastore');
    const state = plainState((key) => (key < 'm' ? 500 : undefined));
    const table = new PlainTable(service, state);
    const work = async (): Promise<void> => {
      expect(await table.get('a')).toBe(500);
      expect(await table.get('z')).toBeUndefined();
      expect(await table.insert('a', 100)).toBe(false);
      expect(await table.insert('z', 100)).toBe(true);
      await table.put('a', 200);
      expect(await table.modify('b', 300)).toBe(true);
      expect(await table.modify('y', 300)).toBe(false);
      expect(await table.getMany(['a', 'b', 'c', 'z', 'y'])).toEqual([200, 300, 500, 100, undefined]);
      expect(service.counters.bytesRead).toBe(500 + 500 + 200 + 300 + 500 + 100);
    };
    await service.scheduler.run(work(), 1_000);
  });

  test('written to by several under one condition loses no update', async () => {
    const service = stillService('azure-tables', TIMED);
    const state = plainState(() => 500);
    const table = new PlainTable(service, state);
    const work = Promise.all(Array.from({ length: 8 }, () => modifyAtLast(table, 'a', 500)));
    await service.scheduler.run(work, 10_000);
    expect(state.records.get('a')?.version).toBe(8);
  });
});
