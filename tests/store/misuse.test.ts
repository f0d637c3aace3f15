// A program without types hears a TypeError that names its mistake, and nothing is done.
import { expect, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store, StoreError } from '../../shared/store/index.ts';
import { newStore } from '../support/opened.ts';

type Loose = Record<string, (...args: unknown[]) => Promise<unknown>>;

/** A store and a table of it, as JavaScript sees them. */
async function untyped(): Promise<{ store: Loose; table: Loose }> {
  const store = newStore();
  const table = await store.table('things', { order: 'key' });
  await table.put('k', 'kept');
  return { store: store as unknown as Loose, table: table as unknown as Loose };
}

/** A call of the store or of the table, what is wrong in it, and what its caller is told. */
const BAD_CALLS: [call: string, args: unknown[], told: string][] = [
  ['store.table', ['t', { ordr: 'key' }], 'no option "ordr": did you mean order? it takes order, groupBy, containers,'],
  ['store.table', ['t', { order: 'Hash' }], 'store.table: order must be one of hash, key, not "Hash"'],
  ['store.table', ['t', null], 'ttlMs, containerBytesMax, create, timeoutMs, signal, not null'],
  ['store.table', [], 'a table name is a string, not undefined'],
  ['store.tables', [{ prefix: 'a' }], 'store.tables has no option "prefix": it takes timeoutMs, signal'],
  ['store.drop', ['things', { timeout: 5 }], 'store.drop has no option "timeout": did you mean timeoutMs?'],
  ['store.vacuum', ['things', { signal: {} }], 'store.vacuum: signal must be an AbortSignal, not an object'],
  ['table.get', ['k', { maxAge: 5 }], 'table.get has no option "maxAge": did you mean maxAgeMs?'],
  ['table.get', [], 'a key is a string, not undefined'],
  ['table.has', ['k', { maxAge: 5 }], 'table.has has no option "maxAge": did you mean maxAgeMs?'],
  ['table.count', [{ limit: 5 }], 'table.count has no option "limit": it takes prefix, from, after, to, through,'],
  ['table.clear', [{ prefx: 'a' }], 'table.clear has no option "prefx": did you mean prefix?'],
  ['table.getMany', ['k'], 'table.getMany: keys must be an array, not a string'],
  ['table.getMany', [['k'], { ttlMs: 5 }], 'table.getMany has no option "ttlMs"'],
  ['table.put', ['k', 'new', { IFVERSION: 'v' }], 'table.put has no option "IFVERSION": did you mean ifVersion?'],
  ['table.put', ['k', 'new', { ttlMs: '5' }], 'table.put: ttlMs must be a number, not a string'],
  ['table.put', ['k', 'new', { ifAbsent: 'yes' }], 'table.put: ifAbsent must be true or false, not a string'],
  ['table.put', ['k', 'new', { constructor: 5 }], 'table.put has no option "constructor"'],
  ['table.put', ['k', 'new', ['ttlMs']], 'of ifVersion, ifAbsent, ttlMs, expiresAtMs, timeoutMs, signal, not an array'],
  ['table.putMany', [{ key: 'k', value: 'new' }], 'items must be an array or an async iterable, not an object'],
  ['table.putMany', [[{ key: 'k', value: 'new' }], { ttlMs: 5 }], 'table.putMany has no option "ttlMs"'],
  ['table.putMany', [[{ key: 'k' }, undefined]], 'item 1 of table.putMany takes an object of key, value,'],
  ['table.putMany', [[{ key: 'k' }, { value: 1 }]], 'item 1 of table.putMany needs key: it must be a string'],
  ['table.putMany', [[{ key: 'k', ttl: 5 }]], 'item 0 of table.putMany has no option "ttl": did you mean ttlMs?'],
  ['table.update', ['k', { value: 'new' }], 'table.update: change must be a function, not an object'],
  ['table.update', ['k', () => 'new', { ifVersion: 'v' }], 'table.update has no option "ifVersion"'],
  ['table.updateMany', [{ k: () => 1 }], 'table.updateMany: items must be an array, not an object'],
  ['table.updateMany', [[{ key: 'k' }]], 'item 0 of table.updateMany needs change: it must be a function'],
  ['table.touch', ['k', { ttl: 5 }], 'table.touch has no option "ttl": did you mean ttlMs?'],
  ['table.delete', ['k', { ifversion: 'v' }], 'table.delete has no option "ifversion": did you mean ifVersion?'],
  ['table.deleteMany', ['k'], 'table.deleteMany: items must be an array or an async iterable, not a string'],
  ['table.deleteMany', [['k', { key: 'k', ifAbsent: true }]], 'item 1 of table.deleteMany has no option "ifAbsent"'],
];

test.each(BAD_CALLS)('%s, given %j, is a TypeError that says what would be right', async (call, args, told) => {
  const stores = await untyped();
  const [of, method] = call.split('.') as ['store' | 'table', string];
  const failure = await stores[of][method]!(...args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TypeError);
  expect(String(failure)).toContain(told);
  expect(await stores.table['get']!('k')).toMatchObject({ value: 'kept', expiresAtMs: undefined });
});

test.each([
  ['scan', { start: 'a' }, 'table.scan has no option "start": it takes prefix, from, after, to, through, reverse,'],
  ['scan', { limit: '5' }, 'table.scan: limit must be a number, not a string'],
  ['scan', null, 'not null'],
  ['keys', { reverse: 1 }, 'table.keys: reverse must be true or false, not a number'],
])('%s, given %j, throws such a TypeError at once', async (call, options, told) => {
  const { table } = await untyped();
  expect(() => table[call]!(options)).toThrow(TypeError);
  expect(() => table[call]!(options)).toThrow(told);
});

const driver = memoryDriver();

test.each([
  [undefined, 'openStore takes an object of driver, cacheBytesMax, timeoutMs, compression,'],
  [driver, 'openStore has no option "limits"'],
  [{}, 'openStore needs driver: it must be a driver, such as memoryDriver() makes'],
  [{ driver: 'memory' }, 'openStore: driver must be a driver, such as memoryDriver() makes, not a string'],
  [{ driver, timeout: 5 }, 'openStore has no option "timeout": did you mean timeoutMs?'],
  [{ driver, compression: 'gzip' }, 'openStore: compression must be one of zstd, none, not "gzip"'],
  [{ driver, runtime: {} }, 'openStore: runtime must be a Runtime, such as systemRuntime, not an object'],
])('openStore says at once what is wrong, case %#', (options, told) => {
  const open = openStore as (options: unknown) => Store;
  expect(() => open(options)).toThrow(TypeError);
  expect(() => open(options)).toThrow(told);
});

test('an option that is undefined counts as left out', async () => {
  const { table } = await untyped();
  await table['put']!('k', 'new', { ifVersion: undefined, ttlMs: undefined, signal: undefined });
  expect(await table['get']!('k', { maxAgeMs: undefined })).toMatchObject({ value: 'new', expiresAtMs: undefined });
});

test('an error as JSON says what it is, where it happened and why', async () => {
  const cause = new Error('the disk is full');
  const error = new StoreError('unavailable', 'the provider did not answer', { table: 't', key: 'k', cause });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    name: 'StoreError',
    code: 'unavailable',
    message: 'the provider did not answer table=t key="k"',
    retryable: true,
    table: 't',
    key: 'k',
    cause: 'the disk is full',
  });
  expect(JSON.parse(JSON.stringify({ error: new StoreError('invalid', 'the key is empty') }))).toEqual({
    error: { name: 'StoreError', code: 'invalid', message: 'the key is empty', retryable: false },
  });
});
