// Imports records into a table: the folder of an export, or NDJSON or CSV of one file or of the
// standard input. It writes over what is there, so an interrupted import is run again.
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { EncodedValue, PutItem, Store } from '../../../shared/store/index.ts';
import { given, UsageError } from '../command-options.ts';
import { batchesOf, encodedTable, putAll, sideBySide } from './copy.ts';
import { type Manifest, readManifest } from './export.ts';
import { linesOf, linesOfExport, rowsOf, unpacked } from './input.ts';
import { Checksum, itemOf, type KeyOf, plainItemOf } from './record-line.ts';

/** The name of the standard input in place of a file's. */
const STANDARD_INPUT = '-';

export interface ImportOptions {
  readonly store: Store;
  readonly table: string;
  /** Undefined: as exported, `hash` for a single file. */
  readonly order: Manifest['order'] | undefined;
  /** The folder of an export, or a file; `-`: the standard input. Both may be gzip. */
  readonly source: string;
  /** Of a file; rows of CSV need `keyOf`. */
  readonly format: 'ndjson' | 'csv';
  /** Makes the key of an object or a row; undefined: lines are as an export writes them. */
  readonly keyOf: KeyOf | undefined;
  /** Called with the number of records put so far, and the share of the whole if it is known. */
  readonly onProgress: (records: number, share?: number) => void;
  readonly signal: AbortSignal;
}

/** The records put. Rejects with the file and line that cannot be read, or the error of a put. */
export async function importTable(options: ImportOptions): Promise<number> {
  const { source, signal } = options;
  const found = source === STANDARD_INPUT ? undefined : await stat(source);
  const manifest = found?.isDirectory() === true ? await finishedExport(options) : undefined;
  if (manifest === undefined && options.format === 'csv' && options.keyOf === undefined)
    throw new UsageError('a row of CSV needs a key: give --key-field NAME, or --key-template TEMPLATE');
  const order = options.order ?? manifest?.order;
  const groupBy = order === 'key' ? manifest?.groupBy : undefined;
  const table = await encodedTable(options.store, options.table, given({ order, groupBy }));
  let records = 0;
  const put = async (items: AsyncIterable<Item>, share: () => number | undefined, either: AbortSignal) => {
    let bad: unknown;
    for await (const batch of batchesOf(untilBad(items, (error) => (bad = error))))
      await putAll(table, batch, either, (count) => options.onProgress((records += count), share()));
    if (bad !== undefined) throw bad;
  };
  if (manifest === undefined) {
    const input = addAbortSignal(signal, found === undefined ? process.stdin : createReadStream(source));
    await put(itemsOf(options, input), () => found && (input as ReadStream).bytesRead / found.size, signal);
    return records;
  }
  const all = manifest.ranges.reduce((sum, range) => sum + range.records, 0);
  await sideBySide(manifest.ranges, signal, ({ file }, _, either) =>
    put(exportedIn(path.join(source, file)), () => records / all, either),
  );
  return records;
}

async function finishedExport({ source, format, keyOf }: ImportOptions): Promise<Manifest> {
  if (keyOf !== undefined || format === 'csv')
    throw new UsageError(
      'an export holds the keys of its records: it takes no --key-field, --key-template or --format csv',
    );
  const manifest = await readManifest(source);
  if (manifest === undefined) throw new Error(`${source} holds no table.json: name the folder of an export`);
  if (manifest.ranges.some(({ cursor }) => cursor !== null))
    throw new Error(`the export in ${source} is not finished: run it again first`);
  await checkSums(source, manifest);
  return manifest;
}

/** Before anything is put: a file may have been cut or edited. */
async function checkSums(folder: string, { ranges }: Manifest): Promise<void> {
  for (const { file, sum, records } of ranges) {
    const found = new Checksum();
    for await (const { text } of linesOfExport(path.join(folder, file))) found.add(text);
    if (found.sum !== sum || found.records !== records)
      throw new Error(`${path.join(folder, file)} does not hold what was exported: import it as a single file`);
  }
}

type Item = PutItem<EncodedValue>;

/** Ends before the first line that is no record, so that those above it are put. */
async function* untilBad(items: AsyncIterable<Item>, onBad: (error: unknown) => void): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    onBad(error);
  }
}

async function* exportedIn(file: string): AsyncGenerator<Item> {
  for await (const { number, text } of linesOfExport(file)) yield itemAt(file, number, () => itemOf(text));
}

async function* itemsOf({ source, format, keyOf }: ImportOptions, input: AsyncIterable<Buffer>): AsyncGenerator<Item> {
  const name = source === STANDARD_INPUT ? 'the standard input' : source;
  const bytes = unpacked(input, name);
  if (format === 'ndjson')
    for await (const { number, text } of linesOf(bytes, name)) yield itemAt(name, number, () => itemOf(text, keyOf));
  else
    for await (const { number, row } of rowsOf(bytes, name)) yield itemAt(name, number, () => plainItemOf(row, keyOf!));
}

function itemAt(name: string, number: number, read: () => Item): Item {
  try {
    return read();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`line ${number} of ${name} is no record: ${detail}`, { cause });
  }
}
