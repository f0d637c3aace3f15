// The plain SDKs on both emulators: what is written is there, and what was sent and is billed is counted.
import { afterAll, describe, expect, test } from 'vitest';
import { azureTablesSdk } from '../../../../infra/lab/experiments/plain-sdk/azure-tables.ts';
import { datastoreSdk } from '../../../../infra/lab/experiments/plain-sdk/datastore.ts';
import { type PlainSdk, spentSince } from '../../../../infra/lab/experiments/plain-sdk/plain-sdk.ts';
import { startEmulated } from './emulated.ts';

const emulated = await startEmulated();
const { datastore, 'azure-tables': azure } = emulated.endpoints;
const sdks = [datastoreSdk(datastore), azureTablesSdk(azure), datastoreSdk(datastore, 3)];
afterAll(async () => {
  await Promise.all(sdks.map((sdk) => sdk.close()));
  await emulated.close();
});

const KEYS = Array.from({ length: 100 }, (_, index) => `k${String(index).padStart(3, '0')}`);

/** Requests, reads and writes that the work takes. */
async function costOf(sdk: PlainSdk, work: () => Promise<unknown>): Promise<[number, number, number]> {
  const before = sdk.spent();
  await work();
  const { requests, billable } = spentSince(sdk.spent(), before);
  return [requests, billable.reads, billable.writes];
}

describe.each([
  // Datastore bills entities, Azure requests.
  { name: 'Datastore', at: 0, group: [1, 0, 100], transaction: [2, 0, 3], readMany: [1, 100, 0] },
  { name: 'Azure Tables', at: 1, group: [1, 0, 1], transaction: [1, 0, 1], readMany: [1, 1, 0] },
  { name: 'Datastore over three clients', at: 2, group: [1, 0, 100], transaction: [2, 0, 3], readMany: [1, 100, 0] },
])('$name', ({ name, at, group, transaction, readMany }) => {
  const sdk = sdks[at]!;
  const open = () => sdk.open(`t${name.replaceAll(/\W/g, '')}`);

  test('counts requests, and operations as they are billed', async () => {
    const table = await open();
    const records = KEYS.map((key) => ({ key, text: key.repeat(3) }));
    expect(await costOf(sdk, () => table.insertMany(records))).toEqual(group);
    expect(await costOf(sdk, () => table.insert({ key: 'single', text: 'x' }))).toEqual([1, 0, 1]);
    const others = ['x1', 'x2', 'x3'].map((key) => ({ key, text: 'y' }));
    expect(await costOf(sdk, () => table.insertInTransaction(others))).toEqual(transaction);
    expect(await costOf(sdk, () => table.read('k050'))).toEqual([1, 1, 0]);
    expect(await costOf(sdk, () => table.readMany(KEYS))).toEqual(readMany);
  });

  test('reads what is there, and says what is not', async () => {
    const table = await open();
    expect(await table.read('k007')).toBe(12);
    expect(await table.read('x2')).toBe(1);
    expect(await table.readMany(KEYS.slice(10, 20))).toBe(10);
    await expect(table.read('nobody')).rejects.toThrow(/there is no entity nobody|ResourceNotFound/);
  });

  test('refuses a key that is there: nothing is overwritten in a measurement', async () => {
    const table = await open();
    await expect(table.insert({ key: 'single', text: 'again' })).rejects.toThrow(/ALREADY_EXISTS|EntityAlreadyExists/);
    expect(await table.read('single')).toBe(1);
  });
});
