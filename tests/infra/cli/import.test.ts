// Imports of exports, of NDJSON and of CSV, plain or packed: what they put, and what they refuse by
// its line.
import { syncBuiltinESMExports } from 'node:module';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import timers from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { putAll } from '../../../infra/cli/data/copy.ts';
import type { ImportOptions } from '../../../infra/cli/data/import.ts';
import { itemOf, lineOf } from '../../../infra/cli/data/record-line.ts';
import { keyPart, keyTemplate } from '../../../infra/plain/plain-place.ts';
import {
  encode,
  type EncodedValue,
  type PutItem,
  type PutOutcome,
  StoreError,
  type StoreErrorCode,
  type Table,
} from '../../../shared/store/index.ts';
import { testFolder } from '../../support/folder.ts';
import { imported, memoryStore, VALUES } from './memory-tables.ts';
import { onDatastore, stowage } from './run-command.ts';

test.each(VALUES)('a record of %s is given back byte for byte by its line: %o', (codec, value) => {
  const stored = encode(codec, value);
  const given = lineOf({ key: 'k"\n', value: stored, version: 'v', expiresAtMs: 5 });
  expect(given).not.toContain('\n');
  expect(itemOf(given)).toEqual({ key: 'k"\n', value: { codec, bytes: Buffer.from(stored.bytes) }, expiresAtMs: 5 });
});

test.each([
  [{ name: 'Ada' }, /^\{"key":"k","value":\{"name":"Ada"\}\}$/],
  [new Date(0), /^\{"key":"k","data":"[^"]+"\}$/],
])('a line shows the value %o as JSON if JSON gives it back the same', (value, line) => {
  expect(lineOf({ key: 'k', value: encode('msgpack', value), version: 'v', expiresAtMs: undefined })).toMatch(line);
});

const byId: ImportOptions['keyOf'] = (partOf) => keyPart('id', partOf('id'));
const CSV = { format: 'csv', keyOf: byId } as const;

/** Imports the bytes and gives back the records of the table, and the error if there was one. */
async function importOf(content: string | Uint8Array, options: Partial<ImportOptions> = {}) {
  const store = memoryStore();
  const file = path.join(await testFolder(), 'given.ndjson');
  await writeFile(file, content);
  let error: Error | undefined;
  await imported(store, 't', file, { order: 'key', ...options }).catch((thrown: Error) => (error = thrown));
  const table = await store.table('t');
  const records: Record<string, unknown> = {};
  for await (const { key, value } of table.scan()) records[key] = value;
  return { records, error };
}

test.each([
  [
    'rows of CSV, as objects of texts; values in quotes keep commas, quotes and ends of lines',
    '\ufeffid,name,note\r\n1,Ada,"a, ""b""\r\n\r\nc"\r\n\r\n02,,x\r\n',
    CSV,
    { 1: { id: '1', name: 'Ada', note: 'a, "b"\r\n\r\nc' }, '02': { id: '02', name: '', note: 'x' } },
  ],
  [
    'objects, whose keys a template makes',
    '{"tenant":"a","id":7}\n{"tenant":"b","id":"x","n":[1]}\n',
    { keyOf: keyTemplate('{tenant}/{id}') },
    { 'a/7': { tenant: 'a', id: 7 }, 'b/x': { tenant: 'b', id: 'x', n: [1] } },
  ],
  [
    'lines that end as on Windows, without blank ones and a byte order mark',
    '\u{feff}{"key":"a","value":1}\r\n\r\n \t\n{"key":"b","value":2}',
    {},
    { a: 1, b: 2 },
  ],
  [
    'gzip of several members',
    Buffer.concat(['{"key":"a","value":1}\n', '{"key":"b","value":2}\n'].map((line) => gzipSync(line))),
    {},
    { a: 1, b: 2 },
  ],
] as const)('an import takes %s', async (_, content, options, records) => {
  expect(await importOf(content, options)).toEqual({ records, error: undefined });
});

test('the standard input is read, though gzip arrives byte by byte', async () => {
  const bytes = gzipSync('{"key":"a","value":1}\n');
  const input = Readable.from(Array.from(bytes, (byte) => Buffer.from([byte])));
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as typeof process.stdin);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await importOf('', { source: '-' })).records).toEqual({ a: 1 });
});

const TWICE = 'a name that stands twice';

test.each([
  ['{"key":"b"}', 'it takes one of value and data'],
  ['{"key":"b","value":1,"data":""}', 'it takes one of value and data'],
  ['{"key":5,"value":1}', ''],
  ['{"key":"b","value":1,"ttl":5}', ''],
  ['{"key":"b","codec":"json","data":"AAAA"}', 'the stored value cannot be decoded$'],
  ['{"key":"b","value":{"n":9007199254740993}}', 'the number 9007199254740993, which would become 9007199254740992'],
  ['{"key":"b","value":[1e400]}', 'the number 1e400, which would become Infinity'],
  ['{"key":"b","value":{"n":1,"n":2}}', TWICE],
  ['{"key":"b","key":"c","data":"AQI=","codec":"bytes"}', TWICE],
  ['{"tenant":"b"}', 'its property id', byId],
  ['{"id":{}}', 'its property id', byId],
  ['{"id":9007199254740993}', 'the number 9007199254740993', byId],
  ['{"id":1,"id":2}', TWICE, byId],
] as const)(
  'an import refuses a line that is no record, or would lose something, by its number: %s',
  async (line, why, keyOf?: ImportOptions['keyOf']) => {
    const first = '{"key":"a","value":1}';
    const { records, error } = await importOf(`${keyOf ? '{"id":"a"}' : first}\n\n${line}\n`, { keyOf });
    expect(error?.name).toBe('UsageError');
    expect(error?.message).toMatch(new RegExp(`line 3 of .*given\\.ndjson is no record: .*${why}`));
    expect(Object.keys(records)).toEqual(['a']);
  },
);

test.each([
  ['id,a\n1,"x\n\ny"\n2\n', 'line 5 of .* it has 1 values, the header 2 names', ['1']],
  ['id,a\n1,x\n2,"y\n', 'line 3 of .* a quote is not closed', ['1']],
  ['id,a\n1,x\n2,5" y\n3,6" z\n', 'line 3 of .* a quote stands in a value without quotes', ['1']],
  ['id,a\n1,x\n2,"y"z\n', 'line 3 of .* no row of CSV', ['1']],
  ['id,id\n1,2\n', 'line 1 of .* header', []],
])('a wrong row of CSV is refused by its line, those above it are put: %j', async (csv, message, put) => {
  const { records, error } = await importOf(csv, CSV);
  expect(error?.name).toBe('UsageError');
  expect(error?.message).toMatch(new RegExp(message));
  expect(Object.keys(records)).toEqual(put);
});

test.each([
  ['gzip that is cut', gzipSync('{"key":"a","value":1}\n').subarray(0, -6), /damaged gzip/],
  ['Latin 1', Buffer.from('{"key":"a","value":1}\n"caf\u{e9}"', 'latin1'), /line 2 of .* is not UTF-8/],
  ['a line of 5 MB', `{"key":"a","value":1}\n"${'x'.repeat(5e6)}"`, /line 2 of .* exceeds 4194304 bytes/],
] as const)('an import refuses %s, and puts what is above', async (_, content, message) => {
  const { records, error } = await importOf(content);
  expect(error?.name).toBe('UsageError');
  expect(error?.message).toMatch(message);
  expect(records).toEqual({ a: 1 });
});

test('a number of two million digits is refused in time linear in its digits', () => {
  // A look for the last zeros that begins at each zero would take an hour.
  const number = `0.1${'0'.repeat(2_000_000)}1`;
  expect(() => itemOf(`{"key":"b","value":${number}}`)).toThrow(
    `it holds the number ${number.slice(0, 40)}..., which would become 0.1: give it in quotes, as text`,
  );
});

test('the command takes a file of CSV by its name, and one key option; it says what was put before an error', async () => {
  const file = path.join(await testFolder(), 'users.csv');
  await writeFile(file, 'id,name\n1,Ada\n2\n');
  const args = ['import', file, '--to', 'gcp://test/import-csv', '--table', 't'];
  const env = onDatastore();
  const broken = await stowage([...args, '--key-field', 'id'], { env });
  expect(broken.code).toBe(2);
  expect(broken.stderr).toMatch(/^1 records were put into t; import it again, .*\nline 3 of .*users\.csv is no row/);
  for (const wrong of [['--key-field', 'id', '--key-template', '{id}'], ['--key-template', 'id'], []])
    expect(await stowage([...args, ...wrong], { env })).toMatchObject({ code: 2 });
});

/** Puts two items, of which `b` fails so often. Gives the keys of each call and the lines said. */
async function put(code: StoreErrorCode, failures: number) {
  vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
  syncBuiltinESMExports();
  const warn = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const calls: string[][] = [];
  const putMany = async (items: readonly PutItem<EncodedValue>[]): Promise<PutOutcome[]> => {
    calls.push(items.map(({ key }) => key));
    return items.map(({ key }) =>
      key === 'b' && calls.length <= failures
        ? { key, status: 'failed', error: new StoreError(code, 'it failed') }
        : { key, status: 'written', version: 'v' },
    );
  };
  const items = ['a', 'b'].map((key) => ({ key, value: encode('json', 1) }));
  const { signal } = new AbortController();
  const error = await putAll({ putMany } as unknown as Table<EncodedValue>, items, signal).then(
    () => undefined,
    (thrown: unknown) => (thrown as Error).message,
  );
  return { calls: calls.map((keys) => keys.join('')), error, said: warn.mock.calls.flat() };
}

test('records that a silent store did not take are put again, and a line says so', async () => {
  expect(await put('unavailable', 2)).toEqual({
    calls: ['ab', 'b', 'b'],
    error: undefined,
    said: ['the store does not answer, try 2 of 8', 'the store does not answer, try 3 of 8'],
  });
});

test('after eight tries putting ends, and the error tells to run the command again', async () => {
  const { calls, error, said } = await put('throttled', 8);
  expect([calls.length, error]).toEqual([8, 'it failed: run the command again']);
  expect(said.at(-1)).toBe('the store asks to slow down, try 8 of 8');
});

test('an error that no further try mends is thrown at once', async () => {
  expect(await put('too_large', 1)).toEqual({ calls: ['ab'], error: 'it failed', said: [] });
});
