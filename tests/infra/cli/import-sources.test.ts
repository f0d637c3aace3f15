// Imports of files that no export wrote: CSV, objects with keys of their own, gzip, standard input.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { importTable, type ImportOptions } from '../../../infra/cli/data/import.ts';
import { keyPart, keyTemplate } from '../../../infra/plain/plain-place.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { testFolder } from '../../support/folder.ts';
import { onDatastore, stowage } from './run-command.ts';

const byId: ImportOptions['keyOf'] = (partOf) => keyPart('id', partOf('id'));

/** Imports the bytes and gives back the records of the table, and the error if there was one. */
async function imported(
  content: string | Uint8Array,
  { format = 'ndjson', keyOf, source }: Partial<ImportOptions> = {},
): Promise<{ readonly records: Record<string, unknown>; readonly error: Error | undefined }> {
  const store = openStore({ driver: memoryDriver() });
  onTestFinished(() => store.close());
  const file = path.join(await testFolder(), 'given');
  await writeFile(file, content);
  const { signal } = new AbortController();
  const from = source ?? file;
  let error: Error | undefined;
  await importTable({
    store,
    table: 't',
    order: 'key',
    source: from,
    format,
    keyOf,
    onProgress: () => {},
    signal,
  }).catch((thrown: Error) => (error = thrown));
  const table = await store.table('t');
  const records: Record<string, unknown> = {};
  for await (const { key, value } of table.scan()) records[key] = value;
  return { records, error };
}

test('rows of CSV become objects of texts, quoted values keep commas, quotes and ends of lines', async () => {
  const csv = '\ufeffid,name,note\r\n1,Ada,"a, ""b""\r\n\r\nc"\r\n\r\n02,,x\r\n';
  const { records, error } = await imported(csv, { format: 'csv', keyOf: byId });
  expect(error).toBeUndefined();
  expect(records).toEqual({
    1: { id: '1', name: 'Ada', note: 'a, "b"\r\n\r\nc' },
    '02': { id: '02', name: '', note: 'x' },
  });
});

test.each([
  ['id,a\n1,"x\n\ny"\n2\n', 'line 5 of .* it has 1 values, the header 2 names'],
  ['id,a\n1,x\n2,"y\n', 'line 3 of .* a quote is not closed'],
  ['id,a\n1,x\n2,5" y\n3,6" z\n', 'line 3 of .* a quote stands in a value without quotes'],
  ['id,a\n1,x\n2,"y"z\n', 'line 3 of .* no row of CSV'],
])('a wrong row of CSV is refused by its line, those above it are put: %j', async (csv, message) => {
  const { records, error } = await imported(csv, { format: 'csv', keyOf: byId });
  expect(error?.name).toBe('UsageError');
  expect(error?.message).toMatch(new RegExp(message));
  expect(Object.keys(records)).toEqual(['1']);
});

test.each(['id,id\n1,2\n', 'id,\n1,2\n'])('a header with a name twice or none is refused: %j', async (csv) => {
  const { error } = await imported(csv, { format: 'csv', keyOf: byId });
  expect(error?.message).toMatch(/line 1 of .* header/);
});

test('rows of CSV without a key option are refused', async () => {
  expect((await imported('id\n1\n', { format: 'csv' })).error?.message).toMatch(/needs a key/);
});

test('objects get their keys by a template, and are the values whole', async () => {
  const keyOf = keyTemplate('{tenant}/{id}');
  const { records } = await imported('{"tenant":"a","id":7}\n{"tenant":"b","id":"x","n":[1]}\n', { keyOf });
  expect(records).toEqual({ 'a/7': { tenant: 'a', id: 7 }, 'b/x': { tenant: 'b', id: 'x', n: [1] } });
});

test.each(['{"tenant":"a"}', '{"id":{}}', '[1]', '{"id":9007199254740993}', '{"id":1,"id":2}'])(
  'an object that makes no key, or loses something, is refused by its line: %s',
  async (line) => {
    const { records, error } = await imported(`{"id":"first"}\n\n${line}\n`, { keyOf: byId });
    expect(error?.name).toBe('UsageError');
    expect(error?.message).toMatch(/line 3 of /);
    expect(Object.keys(records)).toEqual(['first']);
  },
);

test('gzip is unpacked, of several members too, and its damage is told', async () => {
  const [first, second] = ['{"key":"a","value":1}\n', '{"key":"b","value":2}\n'].map((line) => gzipSync(line));
  expect((await imported(Buffer.concat([first!, second!]))).records).toEqual({ a: 1, b: 2 });
  const { error } = await imported(first!.subarray(0, -6));
  expect(error?.name).toBe('UsageError');
  expect(error?.message).toMatch(/damaged gzip/);
});

test('the standard input is read, though gzip arrives byte by byte', async () => {
  const bytes = gzipSync('{"key":"a","value":1}\n');
  const input = Readable.from(Array.from(bytes, (byte) => Buffer.from([byte])));
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as typeof process.stdin);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await imported('', { source: '-' })).records).toEqual({ a: 1 });
});

test('the command takes a file of CSV by its name, and one key option', async () => {
  const file = path.join(await testFolder(), 'users.csv');
  await writeFile(file, 'id,name\n1,Ada\n');
  const args = ['import', file, '--to', 'gcp://test/import-csv', '--table', 't'];
  const env = onDatastore();
  expect(await stowage([...args, '--key-field', 'id'], { env })).toMatchObject({ code: 0 });
  expect(await stowage([...args, '--key-field', 'id', '--key-template', '{id}'], { env })).toMatchObject({ code: 2 });
  expect(await stowage([...args, '--key-template', 'id'], { env })).toMatchObject({ code: 2 });
  expect(await stowage(args, { env })).toMatchObject({ code: 2 });
});
