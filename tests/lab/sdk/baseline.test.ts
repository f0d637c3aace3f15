// The plain SDKs as the comparison uses them, each against its emulator.
import { v1 } from '@google-cloud/datastore';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { afterAll, describe, expect, inject, test, vi } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../infra/emulators/azurite.ts';
import { RECORD_FORMS } from '../../../shared/lab/kit/dimensions.ts';
import { azureTablesBaseline } from '../../../shared/lab/sdk/azure-tables-baseline.ts';
import { emptyUsage, increase, type Usage } from '../../../shared/lab/kit/provider-usage.ts';
import { type SdkBaseline, withTries } from '../../../shared/lab/work/baseline.ts';
import { datastoreBaseline } from '../../../shared/lab/sdk/datastore-baseline.ts';
import { keyOf, recordSource, tenantEnd, tenantOf } from '../../../shared/lab/work/sample-records.ts';

// Without it Google's libraries look for the metadata server of a cloud machine.
process.env['METADATA_SERVER_DETECTION'] = 'none';
const azurite = await startAzurite({ inProcess: true });
const credential = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);
const tableClient = (name: string): TableClient =>
  new TableClient(azurite.endpoint, name, credential, { allowInsecureConnection: true });

const BASELINES: readonly (readonly [string, SdkBaseline])[] = [
  ['azure-tables', azureTablesBaseline({ tableClient })],
  ['datastore', datastoreBaseline({ projectId: 'stowage-test', apiEndpoint: inject('embeddedEndpoint') })],
];

afterAll(async () => {
  for (const [, baseline] of BASELINES) await baseline.close();
  await azurite.close();
});

const recordAt = recordSource(1, 300);
const signal = new AbortController().signal;

describe.each(BASELINES)('the baseline of %s', (provider, baseline) => {
  const opened = async (dataset: string, count: number) => {
    const table = await baseline.open(dataset);
    for (let at = 0; at < count; at++) await table.insert(recordAt(at, 0));
    return table;
  };

  /** The increase of the usage by some work. */
  const spent = async (work: () => Promise<unknown>): Promise<Omit<Usage, 'retries'>> => {
    const { retries: _, ...before } = structuredClone(baseline.usage());
    await work();
    const { retries: __, ...after } = baseline.usage();
    return increase(before, after);
  };

  test('reads a range in key order, up to a number and up to the end of a tenant', async () => {
    const table = await opened('ranges', 30);
    const keys = Array.from({ length: 30 }, (_, at) => keyOf(at)).toSorted();
    // All thirty are one tenant's. A record of another tenant lies behind them.
    await table.insert(recordAt(500, 0));
    expect(new Set(keys.map(tenantOf)).size).toBe(1);
    const end = tenantEnd(keys[0]!);
    expect(await table.range(keys[0]!, end, 100)).toBe(30);
    expect(await table.range(keys[20]!, end, 100)).toBe(10);
    expect(await table.range(keys[20]!, end, 4)).toBe(4);
    expect(await table.range(keys[10]!, keys[15]!, 100)).toBe(5);
    await baseline.remove('ranges', signal);
  });

  test('writes records together in one request, which Azure bills as one write', async () => {
    const table = await opened('together', 1);
    const some = [0, 1, 2].map((at) => recordAt(at, 1));
    expect(await spent(() => table.putMany(some))).toMatchObject({
      requests: 1,
      billable: { writes: provider === 'azure-tables' ? 1 : 3 },
      bytesWritten: 3 * (keyOf(0).length + 300),
    });
    expect(await table.range(keyOf(0).slice(0, 4), tenantEnd(keyOf(0)), 100)).toBe(3);
    await baseline.remove('together', signal);
  });

  test.each(RECORD_FORMS)('keeps records of the form %s whose fields are longer than an index takes', async (form) => {
    const table = await baseline.open('long');
    const record = recordSource(1, 20_000, form)(0, 0);
    await table.insert(record);
    const { bytesRead } = await spent(async () => expect(await table.get(record.key)).toBe(true));
    expect(bytesRead).toBe(20_000);
    await baseline.remove('long', signal);
  });

  test('modifies an existing record, and reports a missing one', async () => {
    const table = await opened('modified', 1);
    const usage = await spent(async () => {
      expect(await table.modify(recordAt(0, 1))).toBe(true);
      expect(await table.modify(recordAt(7, 1))).toBe(false);
    });
    expect(usage).toMatchObject({ billable: { writes: 1 }, conflicts: 0 });
    await baseline.remove('modified', signal);
  });

  test('modifies a record for several callers at once', async () => {
    const table = await opened('contended', 1);
    const ended = await Promise.allSettled(Array.from({ length: 4 }, (_, round) => table.modify(recordAt(0, round))));
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await baseline.remove('contended', signal);
  });
});

test('Datastore’s transaction sends two requests, as counted, and begins with its lookup', async () => {
  const [, baseline] = BASELINES[1]!;
  const table = await baseline.open('transactions');
  await table.insert(recordAt(0, 0));
  const methods = ['beginTransaction', 'lookup', 'commit', 'rollback'] as const;
  const spies = methods.map((method) => vi.spyOn(v1.DatastoreClient.prototype, method));
  const sent = (): number[] => spies.map(({ mock }) => mock.calls.length);
  const before = baseline.usage().requests;
  expect(await table.modify(recordAt(0, 1))).toBe(true);
  expect(sent()).toEqual([0, 1, 1, 0]);
  expect(await table.modify(recordAt(7, 1))).toBe(false);
  expect(sent()).toEqual([0, 2, 1, 1]);
  expect(baseline.usage().requests - before).toBe(4);
  for (const spy of spies) spy.mockRestore();
  await baseline.remove('transactions', signal);
});

test('a modification is given up after ten conflicts', async () => {
  const usage = emptyUsage(true);
  await expect(withTries(usage, async () => 'conflict')).rejects.toMatchObject({ code: 'conflict' });
  expect(usage.conflicts).toBe(10);
});
