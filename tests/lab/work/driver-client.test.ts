// The control arm on the memory driver, which specifies all others.
import { beforeEach, expect, test } from 'vitest';
import { LIMITS as AZURE_LIMITS } from '../../../shared/drivers/azure-tables/mapping.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { driverClient, removeEntities } from '../../../shared/lab/work/driver-client.ts';
import type { LayoutClient } from '../../../shared/lab/work/layout-clients.ts';
import type { Operation } from '../../../shared/lab/work/operations.ts';
import { recordSource } from '../../../shared/lab/work/records.ts';
import { type Driver, openStore } from '../../../shared/store/index.ts';

const source = recordSource(1, 1_000, 'ycsb');
const signal = new AbortController().signal;
const ended = (): void => {};

let driver: Driver;
let counters: DriverCounters;
let client: LayoutClient;

beforeEach(() => {
  ({ driver, counters } = measured(memoryDriver()));
  client = driverClient(driver, 'one');
});

async function send(operations: readonly Operation[], to = client): Promise<unknown[]> {
  const units = [...to.call(operations)].flat();
  return (await Promise.all(units.map((unit) => unit.send()))).flat();
}

const insert = (index: number): Operation => ({ kind: 'insert', record: source(index, 0), ended });
const update = (index: number): Operation => ({ kind: 'update', record: source(index, 1) });
const read = (index: number): Operation => ({ kind: 'read', key: source(index, 0).key });
const calls = (): number[] => [counters.readCalls, counters.writeCalls];

test('a record is one entity, and its insert, read and update are one request each', async () => {
  await send([insert(0)]);
  expect(calls()).toEqual([0, 1]);
  await send([read(0)]);
  await send([update(0)]);
  expect(calls()).toEqual([1, 2]);
  expect((await driver.list('e!one!', undefined, 10, { timeoutMs: 1_000 })).ids).toHaveLength(1);
});

test('a record that another has changed is read again, and written over what is there', async () => {
  await send([insert(0)]);
  // A driver of its own makes it another process.
  const other = driverClient({ ...driver }, 'one');
  await send([update(0)], other);
  await send([update(0)]);
  expect(counters.refusedCondition).toBe(1);
  await send([{ kind: 'modify', record: source(0, 2) }], other);
  expect(counters.refusedCondition).toBe(1);
});

test('what is absent is a failure to read and to modify, what is there to insert', async () => {
  await expect(send([read(0)])).rejects.toMatchObject({ code: 'absent' });
  await expect(send([{ kind: 'modify', record: source(0, 0) }])).rejects.toMatchObject({ code: 'absent' });
  await send([insert(0)]);
  await expect(send([insert(0)])).rejects.toMatchObject({ code: 'condition' });
});

test('records handed over together go in as few writes as lanes and limits allow, and replace what is there', async () => {
  const [smaller, counted] = [memoryDriver({ limits: AZURE_LIMITS }), new Set<number>()];
  const azure: Driver = {
    ...smaller,
    write: (writes, options) => {
      counted.add(writes.reduce((sum, { parts }) => sum + parts[0]!.bytes.byteLength, 0));
      expect(new Set(writes.map(({ id }) => AZURE_LIMITS.lane(id))).size).toBe(1);
      return smaller.write(writes, options);
    },
  };
  const large = recordSource(1, 10_000, 'ycsb');
  const records = Array.from({ length: 500 }, (_, index): Operation => {
    return { kind: 'insert', record: large(index, 0), ended };
  });
  const loading = driverClient(azure, 'one');
  expect([...loading.call(records)].flat().reduce((sum, unit) => sum + unit.records, 0)).toBe(500);
  expect(await send(records, loading)).toEqual([]);
  expect(Math.max(...counted)).toBeLessThanOrEqual(AZURE_LIMITS.writeBytesMax);
  expect(await send(records.slice(0, 50), loading)).toEqual([]);
});

test('a dataset is removed, and neither another one nor the tables of a store', async () => {
  await send(Array.from({ length: 1_200 }, (_, index) => insert(index)));
  await send([insert(0)], driverClient(driver, 'two'));
  const store = openStore({ driver });
  await (await store.table('one')).put('key', 1);
  await removeEntities(driver, 'one', signal);
  const ids = async (prefix: string) => (await driver.list(prefix, undefined, 10, { timeoutMs: 1_000 })).ids.length;
  expect([await ids('e!one!'), await ids('e!two!'), await ids('t!one!')]).toEqual([0, 1, 1]);
  await store.close();
});
