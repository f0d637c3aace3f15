// Commands put many records: those that fail for now are put again, and a line says so.
import { expect, onTestFinished, test, vi } from 'vitest';
import { putAll } from '../../../infra/cli/data/copy.ts';
import {
  encode,
  type EncodedValue,
  type PutItem,
  type PutOutcome,
  StoreError,
  type StoreErrorCode,
  type Table,
} from '../../../shared/store/index.ts';

vi.mock('node:timers/promises', () => ({ setTimeout: () => Promise.resolve() }));

const ITEMS = ['a', 'b'].map((key) => ({ key, value: encode('json', 1) }));

/** Puts both items, of which `b` fails so often. Gives the keys of each call and the lines said. */
async function put(code: StoreErrorCode, failures: number) {
  const calls: string[][] = [];
  const putMany = (items: readonly PutItem<EncodedValue>[]): Promise<PutOutcome[]> => {
    calls.push(items.map(({ key }) => key));
    return Promise.resolve(
      items.map(({ key }) =>
        key === 'b' && calls.length <= failures
          ? { key, status: 'failed', error: new StoreError(code, 'it failed') }
          : { key, status: 'written', version: 'v' },
      ),
    );
  };
  const warn = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const written: number[] = [];
  const { signal } = new AbortController();
  const table = { putMany } as unknown as Table<EncodedValue>;
  const error = await putAll(table, ITEMS, signal, (count) => written.push(count)).then(
    () => undefined,
    (thrown: unknown) => (thrown as Error).message,
  );
  return { calls, written, error, said: warn.mock.calls.flat() };
}

test('records that a silent store did not take are put again, and a line says so', async () => {
  expect(await put('unavailable', 2)).toEqual({
    calls: [['a', 'b'], ['b'], ['b']],
    written: [1, 0, 1],
    error: undefined,
    said: ['the store does not answer, try 2 of 8', 'the store does not answer, try 3 of 8'],
  });
});

test('after eight tries putting ends, and the error tells to run the command again', async () => {
  const { calls, error, said } = await put('throttled', 8);
  expect([calls.length, error, said.at(-1)]).toEqual([
    8,
    'it failed: run the command again',
    'the store asks to slow down, try 8 of 8',
  ]);
});

test('an error that no further try mends is thrown at once', async () => {
  expect(await put('too_large', 1)).toEqual({
    calls: [['a', 'b']],
    written: [1],
    error: 'it failed',
    said: [],
  });
});
