// The calls that a way sends, and their records.
import { expect, test } from 'vitest';
import type { TextRecord, TextTable } from '../../../../infra/lab/experiments/text-table.ts';
import { callsOf, Records, sendAll, type Way } from '../../../../infra/lab/experiments/ways.ts';

/** A line for each call of a table, with `-` where it has no keys. */
async function sent(way: Partial<Way>): Promise<string[]> {
  const log: string[] = [];
  const note = (verb: string, of: readonly unknown[]): Promise<void> =>
    Promise.resolve(void log.push(`${verb} ${of.length}`));
  const table: TextTable = {
    put: (record) => note('put', [record]),
    putMany: (records) => note('putMany', records),
    putInTransaction: (records) => note('transaction', records),
    get: (key, maxAgeMs) => note(maxAgeMs > 0 ? 'cached' : 'get', [key]),
    getMany: (keys) => note('getMany', keys),
  };
  const whole: Way = { client: 'sdk', verb: 'write', records: 4, group: 1, inFlight: 1, characters: 9, ...way };
  const calls = callsOf(table, whole, new Records(200));
  expect(log).toEqual([]);
  await sendAll(calls, whole.inFlight, new AbortController().signal);
  return log;
}

test.each([
  [{ records: 2 }, ['put 1', 'put 1']],
  [{ group: 3 }, ['putMany 3', 'putMany 1']],
  [{ verb: 'transaction', group: 4 }, ['transaction 4']],
  [{ verb: 'read', records: 2 }, ['get 1', 'get 1']],
  [{ verb: 'read', group: 2 }, ['getMany 2', 'getMany 2']],
  [{ verb: 'cached', records: 1 }, ['cached 1']],
  [{ verb: 'request', records: 2 }, ['putMany 5', 'getMany 100', 'putMany 5', 'getMany 100']],
  [{ group: 2, rootEach: 2 }, ['put 1', 'putMany 2', 'put 1', 'putMany 2']],
] as const)('%o', async (way, calls) => {
  expect(await sent(way)).toEqual(calls);
});

test('new records have keys and a length of their own, in no order, and behind those that are there', () => {
  const records = new Records(100);
  const fresh: TextRecord[] = [...records.fresh(50, 53), ...records.fresh(50, 53)];
  const keys = fresh.map(({ key }) => key);
  expect(new Set(keys).size).toBe(100);
  expect(keys).not.toEqual(keys.toSorted());
  expect(fresh.every(({ text }) => text.length === 53)).toBe(true);
  const [last] = records.loaded(10).slice(-1);
  expect(keys.every((key) => key > last!.key)).toBe(true);
});

test('what is read is there: neighbours in order, scattered ones far apart', () => {
  const records = new Records(100);
  const there = records.loaded(10).map(({ key }) => key);
  expect(there).toEqual(there.toSorted());
  const first = records.neighbours(30);
  expect(there.join()).toContain(first.join());
  for (const key of records.scattered(50)) expect(there).toContain(key);
  expect(records.neighbours(500)).toEqual(there);
});

test('the signal ends it: what is on its way is waited for, nothing else is sent', async () => {
  const stop = new AbortController();
  let calls = 0;
  const call = async (): Promise<void> => {
    calls += 1;
    stop.abort(new Error('ended by SIGINT'));
  };
  await expect(sendAll([call, call, call], 1, stop.signal)).rejects.toThrow('ended by SIGINT');
  expect(calls).toBe(1);
});
