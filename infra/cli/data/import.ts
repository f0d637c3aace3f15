// Imports records into a table: the folder of an export, or NDJSON or CSV of one file or of the
// standard input. It writes over what is there, so an interrupted import is run again.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { EncodedValue, PutItem, Store } from '../../../shared/store/index.ts';
import { batchesOf, putAll, sideBySide } from './batches.ts';
import { encodedTable } from './copy.ts';
import { rowsOf } from './csv-rows.ts';
import { linesOf, linesOfExport, type Manifest, readManifest } from './files.ts';
import { bytesOf, type Input, STANDARD_INPUT } from './input.ts';
import { UsageError } from '../command-options.ts';
import { Checksum, itemOf, type KeyOf, plainItemOf } from './record-line.ts';

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
  const { source } = options;
  const found = source === STANDARD_INPUT ? undefined : await stat(source);
  const isFolder = found?.isDirectory() === true;
  if (isFolder && (options.keyOf !== undefined || options.format === 'csv'))
    throw new UsageError(
      'an export holds the keys of its records: it takes no --key-field, --key-template or --format csv',
    );
  const manifest = isFolder ? await readManifest(source) : undefined;
  if (isFolder && manifest === undefined)
    throw new Error(`${source} holds no table.json: name the folder of an export`);
  if (manifest?.ranges.some(({ cursor }) => cursor !== null) === true)
    throw new Error(`the export in ${source} is not finished: run it again first`);
  if (manifest !== undefined) await checkSums(source, manifest);
  const order = options.order ?? manifest?.order;
  const groupBy = order === 'key' ? manifest?.groupBy : undefined;
  const layout = { ...(order !== undefined && { order }), ...(groupBy !== undefined && { groupBy }) };
  const table = await encodedTable(options.store, options.table, layout);
  const files = manifest?.ranges.map(({ file }) => path.join(source, file)) ?? [source];
  const all = manifest?.ranges.reduce((sum, range) => sum + range.records, 0);
  let records = 0;
  let bytesRead = 0;
  const onRead = (bytes: number): void => void (bytesRead = bytes);
  const shareDone = (): number | undefined => {
    if (all !== undefined) return records / all;
    return found && bytesRead / found.size;
  };
  await sideBySide(files, options.signal, async (file, _, signal) => {
    let bad: unknown;
    const items = isFolder ? exportedIn(file) : itemsOf({ ...options, onRead, signal });
    for await (const batch of batchesOf(untilBad(items, (error) => (bad = error))))
      await putAll(table, batch, signal, (count) => options.onProgress((records += count), shareDone()));
    if (bad !== undefined) throw bad;
  });
  return records;
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

async function* itemsOf({
  source,
  format,
  keyOf,
  ...reading
}: ImportOptions & Pick<Input, 'onRead'>): AsyncGenerator<Item> {
  const name = source === STANDARD_INPUT ? 'the standard input' : source;
  const bytes = bytesOf({ source, name, ...reading });
  if (format === 'csv') {
    if (keyOf === undefined)
      throw new UsageError('a row of CSV needs a key: give --key-field NAME, or --key-template TEMPLATE');
    for await (const { number, row } of rowsOf(bytes, name)) yield itemAt(name, number, () => plainItemOf(row, keyOf));
    return;
  }
  for await (const { number, text } of linesOf(bytes, name)) yield itemAt(name, number, () => itemOf(text, keyOf));
}

function itemAt(name: string, number: number, read: () => Item): Item {
  try {
    return read();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`line ${number} of ${name} is no record: ${detail}`, { cause });
  }
}
