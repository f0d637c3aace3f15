// A program without types, or with mistyped ones, hears a TypeError that names the mistake, and
// nothing is done.
import { afterEach, describe, expect, test } from 'vitest';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import { openStore, type Store, StoreError } from '../../shared/store/index.ts';

type Loose = Record<string, (...args: unknown[]) => Promise<unknown>>;

const stores: Store[] = [];

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

/** A store and a table of it, as JavaScript sees them. */
async function untyped(): Promise<{ store: Loose; table: Loose }> {
  const store = openStore({ driver: memoryDriver() });
  stores.push(store);
  const table = await store.table('things', { order: 'key' });
  await table.put('k', 'kept');
  return { store: store as unknown as Loose, table: table as unknown as Loose };
}

/** A call, what is wrong in it, and what its caller is told. */
const BAD_STORE_CALLS: [call: string, args: unknown[], told: string][] = [
  [
    'table',
    ['t', { ordr: 'key' }],
    'store.table has no option "ordr": did you mean order? it takes order, groupBy, containers,',
  ],
  ['table', ['t', { order: 'Hash' }], 'store.table: order must be one of hash, key, not "Hash"'],
  ['table', ['t', { codec: 5 }], 'store.table: codec must be one of msgpack, json, bytes, encoded, not a number'],
  ['table', ['t', { create: 'no' }], 'store.table: create must be true or false, not a string'],
  ['table', ['t', { containers: '4' }], 'store.table: containers must be a number, not a string'],
  [
    'table',
    ['t', null],
    'store.table takes an object of order, groupBy, containers, codec, schema, ttlMs, containerBytesMax, create, timeoutMs, signal, not null',
  ],
  ['table', [], 'a table name is a string, not undefined'],
  ['tables', [{ prefix: 'a' }], 'store.tables has no option "prefix": it takes timeoutMs, signal'],
  ['drop', ['things', { timeout: 5 }], 'store.drop has no option "timeout": did you mean timeoutMs?'],
  [
    'vacuum',
    ['things', { signal: new AbortController() }],
    'store.vacuum: signal must be an AbortSignal, not an object',
  ],
];

const BAD_TABLE_CALLS: [call: string, args: unknown[], told: string][] = [
  ['get', ['k', { maxAge: 5 }], 'table.get has no option "maxAge": did you mean maxAgeMs?'],
  ['get', ['k', { maxAgeMs: '5' }], 'table.get: maxAgeMs must be a number, not a string'],
  ['get', [], 'a key is a string, not undefined'],
  ['has', ['k', { maxAge: 5 }], 'table.has has no option "maxAge": did you mean maxAgeMs?'],
  ['has', [], 'a key is a string, not undefined'],
  ['count', [{ limit: 5 }], 'table.count has no option "limit": it takes prefix, from, after, to, through,'],
  ['count', [{ prefix: 5 }], 'table.count: prefix must be a string, not a number'],
  ['clear', ['k'], 'table.clear takes an object of prefix, from, after, to, through, timeoutMs, signal, not a string'],
  ['clear', [{ prefx: 'a' }], 'table.clear has no option "prefx": did you mean prefix?'],
  ['getMany', ['k'], 'table.getMany: keys must be an array, not a string'],
  ['getMany', [['k', 5]], 'a key is a string, not number'],
  ['getMany', [['k'], { ttlMs: 5 }], 'table.getMany has no option "ttlMs"'],
  ['put', ['k', 'new', { ttl: 5 }], 'table.put has no option "ttl": did you mean ttlMs?'],
  ['put', ['k', 'new', { IFVERSION: 'v' }], 'table.put has no option "IFVERSION": did you mean ifVersion?'],
  ['put', ['k', 'new', { ttlMs: '5' }], 'table.put: ttlMs must be a number, not a string'],
  ['put', ['k', 'new', { ifVersion: 5 }], 'table.put: ifVersion must be a string, not a number'],
  ['put', ['k', 'new', { ifVersion: null }], 'table.put: ifVersion must be a string, not null'],
  ['put', ['k', 'new', { ifAbsent: 'yes' }], 'table.put: ifAbsent must be true or false, not a string'],
  ['put', ['k', 'new', { constructor: 5 }], 'table.put has no option "constructor"'],
  [
    'put',
    ['k', 'new', 5],
    'table.put takes an object of ifVersion, ifAbsent, ttlMs, expiresAtMs, timeoutMs, signal, not a number',
  ],
  [
    'put',
    ['k', 'new', ['ttlMs']],
    'table.put takes an object of ifVersion, ifAbsent, ttlMs, expiresAtMs, timeoutMs, signal, not an array',
  ],
  ['put', [5, 'new'], 'a key is a string, not number'],
  ['putMany', [{ key: 'k', value: 'new' }], 'table.putMany: items must be an array, not an object'],
  ['putMany', [[{ key: 'k', value: 'new' }], { ttlMs: 5 }], 'table.putMany has no option "ttlMs"'],
  ['putMany', [[{ key: 'k', value: 'new' }, undefined]], 'item 1 of table.putMany takes an object of key, value,'],
  ['putMany', [[{ key: 'k', value: 'new' }, { value: 1 }]], 'item 1 of table.putMany needs key: it must be a string'],
  [
    'putMany',
    [[{ key: 'k', value: 'new' }, { key: 5 }]],
    'item 1 of table.putMany: key must be a string, not a number',
  ],
  [
    'putMany',
    [[{ key: 'k', value: 'new', ttl: 5 }]],
    'item 0 of table.putMany has no option "ttl": did you mean ttlMs? it takes key, value, ifVersion, ifAbsent, ttlMs',
  ],
  ['update', ['k'], 'table.update: change must be a function, not undefined'],
  ['update', ['k', { value: 'new' }], 'table.update: change must be a function, not an object'],
  ['update', ['k', () => 'new', { ifVersion: 'v' }], 'table.update has no option "ifVersion"'],
  ['updateMany', [{ k: () => 1 }], 'table.updateMany: items must be an array, not an object'],
  ['updateMany', [[{ key: 'k' }]], 'item 0 of table.updateMany needs change: it must be a function'],
  ['updateMany', [[{ key: 'k', change: 5 }]], 'item 0 of table.updateMany: change must be a function, not a number'],
  ['touch', ['k', { ttl: 5 }], 'table.touch has no option "ttl": did you mean ttlMs?'],
  ['touch', ['k', 5], 'table.touch takes an object of ttlMs, expiresAtMs, timeoutMs, signal, not a number'],
  ['touch', [5, { ttlMs: 5 }], 'a key is a string, not number'],
  ['delete', ['k', { ifversion: 'v' }], 'table.delete has no option "ifversion": did you mean ifVersion?'],
  ['deleteMany', ['k'], 'table.deleteMany: items must be an array, not a string'],
  ['deleteMany', [['k', 5]], 'item 1 of table.deleteMany takes an object of key, ifVersion, not a number'],
  ['deleteMany', [['k', { key: 'k', ifAbsent: true }]], 'item 1 of table.deleteMany has no option "ifAbsent"'],
];

describe('misuse is a TypeError that says what would be right', () => {
  test.each(BAD_STORE_CALLS)('store.%s, given %j', async (call, args, told) => {
    const { store, table } = await untyped();
    const failure = await store[call]!(...args).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(String(failure)).toContain(told);
    expect(await table['get']!('k')).toMatchObject({ value: 'kept' });
  });

  test.each(BAD_TABLE_CALLS)('table.%s, given %j', async (call, args, told) => {
    const { table } = await untyped();
    const failure = await table[call]!(...args).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    expect(String(failure)).toContain(told);
    expect(await table['get']!('k')).toMatchObject({ value: 'kept', expiresAtMs: undefined });
  });

  test('scan throws it at once', async () => {
    const { table } = await untyped();
    expect(() => table['scan']!({ start: 'a' })).toThrow(
      new TypeError(
        'table.scan has no option "start": it takes prefix, from, after, to, through, reverse, limit, cursor, timeoutMs, signal',
      ),
    );
    expect(() => table['scan']!({ limit: '5' })).toThrow(
      new TypeError('table.scan: limit must be a number, not a string'),
    );
    expect(() => table['scan']!(null)).toThrow(TypeError);
    expect(() => table['keys']!({ reverse: 1 })).toThrow(
      new TypeError('table.keys: reverse must be true or false, not a number'),
    );
  });
});

const driver = memoryDriver();

test.each([
  [undefined, 'openStore takes an object of driver, cacheBytesMax, timeoutMs, compression,'],
  [driver, 'openStore has no option "limits"'],
  [{}, 'openStore needs driver: it must be a driver, such as memoryDriver() makes'],
  [{ driver: 'memory' }, 'openStore: driver must be a driver, such as memoryDriver() makes, not a string'],
  [{ driver: memoryDriver }, 'openStore: driver must be a driver, such as memoryDriver() makes, not a function'],
  [{ driver: {} }, 'openStore: driver must be a driver, such as memoryDriver() makes, not an object'],
  [{ driver, timeout: 5 }, 'openStore has no option "timeout": did you mean timeoutMs?'],
  [{ driver, timeoutMs: '5' }, 'openStore: timeoutMs must be a number, not a string'],
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
