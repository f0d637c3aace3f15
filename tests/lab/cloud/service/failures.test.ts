// Lost requests and replies, deadlines, and how the driver reports them.
import { expect, test } from 'vitest';
import { memoryState } from '../../../../shared/drivers/memory.ts';
import { modelledDriver } from '../../../../shared/lab/cloud/service/driver.ts';
import { PlainTable, plainState } from '../../../../shared/lab/cloud/service/plain.ts';
import type { ServiceFailure } from '../../../../shared/lab/cloud/service/request.ts';
import type { Write } from '../../../../shared/store/contract/driver.ts';
import { entityId, partName } from '../../../support/ids.ts';
import { expectBetween } from '../../expect-within.ts';
import { inTime, request, stillService, write } from './modelled.ts';

const COUNT = 20_000;

async function fates(overrides: Readonly<Record<string, number>>) {
  const service = stillService('datastore', overrides);
  let effects = 0;
  const sent = Array.from({ length: COUNT }, (_, at) =>
    service.send({ ...request('commit', write(`r${at}`)), timeoutMs: 1_000 }, () => (effects += 1)),
  );
  const settled = Promise.allSettled(sent);
  await service.scheduler.run(settled, Infinity);
  const failures = (await settled).flatMap((one) => (one.status === 'rejected' ? [one.reason as ServiceFailure] : []));
  const share = (failure: string): number => failures.filter((one) => one.code === failure).length / COUNT;
  const shares = [effects / COUNT, share('lost'), share('timed-out')];
  const { lost, timedOut } = service.counters;
  expect(shares.slice(1)).toEqual([lost / COUNT, timedOut / COUNT]);
  return { shares, service };
}

const near = (share: number) => expect.closeTo(share, 2) as number;

test('a lost request has no effect, a lost reply has had it; some are noticed at once, others at the deadline', async () => {
  const requests = await fates({ 'loss.requestShare': 0.1, 'loss.silentShare': 0.5 });
  expect(requests.shares).toEqual([0.9, 0.05, 0.05].map(near));
  const replies = await fates({ 'loss.replyShare': 0.1, 'loss.silentShare': 0.25 });
  expect(replies.shares).toEqual([1, near(0.075), near(0.025)]);
});

test('who waits too short a time hears nothing, and the effect happens', async () => {
  const { service, shares } = await fates({ 'commit.baseMs': 3_000 });
  expect(shares).toEqual([0, 0, 1]);
  expect(service.scheduler.nowMs).toBe(1_000);
  await service.scheduler.pass(1_000);
  expect(service.counters.billable.writes).toBe(COUNT);
});

const INSERT: Write = {
  kind: 'insert',
  id: entityId('a'),
  parts: [{ name: partName('h'), bytes: Buffer.from('x'), chunksBefore: 0 }],
};

/** Overrides that make every request fail so. The first one is not throttled. */
const FAILING = {
  throttled: { 'account.unitsPerSecond': 1e-9 },
  lost: { 'loss.replyShare': 1, 'loss.silentShare': 0 },
  'timed-out': { 'loss.requestShare': 1, 'loss.silentShare': 1 },
};

test.each([
  ['throttled', 'throttled', 'throttled'],
  ['lost', 'other', 'unavailable'],
  ['timed-out', 'other', 'unavailable'],
] as const)('the driver calls a write that was %s unknown (%s), and a read %s', async (failure, reason, code) => {
  const service = stillService('azure-tables', FAILING[failure]);
  await inTime(
    service,
    Promise.allSettled([service.send({ ...request('commit', write('b')), timeoutMs: 10 }, () => 0)]),
  );
  const driver = modelledDriver(service, memoryState());
  const options = { timeoutMs: 100 };
  const work = async (): Promise<void> => {
    expect(await driver.write([INSERT], options)).toMatchObject([{ kind: 'unknown', reason }]);
    const removals = [{ id: INSERT.id, version: 'v1' as never }];
    expect(await driver.remove(removals, options)).toMatchObject([{ kind: 'unknown', reason }]);
    await expect(driver.read([{ id: INSERT.id, parts: 'all' }], options)).rejects.toMatchObject({ code });
    await expect(driver.list('', undefined, 10, options)).rejects.toMatchObject({ code });
  };
  await service.scheduler.run(work(), 1_000);
});

test('a plain table sends again what the SDK of its provider does, after the pauses of that SDK', async () => {
  const azure = stillService('azure-tables', {
    ...FAILING.throttled,
    'sdk.writeRetriesMax': 3,
    'sdk.retryBaseMs': 1_000,
    'sdk.retryFactor': 2,
  });
  const plain = new PlainTable(azure, plainState());
  await azure.scheduler.run(plain.put('a', 500), 100);
  const sentMs = azure.scheduler.nowMs;
  const refused = plain.put('a', 500);
  await expect(azure.scheduler.run(refused, 1_000)).rejects.toThrow('throttled');
  expect(azure.counters.requests).toBe(1 + 4);
  expectBetween(azure.scheduler.nowMs - sentMs, 3_500, 7_100);

  // Datastore's client accepts a throttled answer, and never sends a commit twice.
  const datastore = stillService('datastore', { ...FAILING.lost, 'sdk.readRetriesMax': 2, 'sdk.writeRetriesMax': 0 });
  const table = new PlainTable(datastore, plainState());
  await expect(datastore.scheduler.run(table.put('a', 500), 1_000)).rejects.toThrow('lost');
  expect(datastore.counters.requests).toBe(1);
  await expect(datastore.scheduler.run(table.get('a'), 1_000)).rejects.toThrow('lost');
  expect(datastore.counters.requests).toBe(4);
});

test('what an effect throws reaches the caller, after the way back', async () => {
  const service = stillService('datastore', { 'network.oneWayMs.median': 1, 'commit.baseMs': 4 });
  const sent = service.send(request('commit', write('a')), () => {
    throw new TypeError('misuse');
  });
  await expect(service.scheduler.run(sent, 100)).rejects.toThrow('misuse');
  expect(service.scheduler.nowMs).toBe(6);
});
