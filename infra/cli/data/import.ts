// Imports NDJSON into a table: the folder of an export, or one file. It writes over what is there,
// so an interrupted import is run again.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { EncodedValue, PutItem, Store } from '../../../shared/store/index.ts';
import { batchesOf, putAll, sideBySide } from './batches.ts';
import { encodedTable } from './copy.ts';
import { linesOf, type Manifest, readManifest } from './files.ts';
import { UsageError } from '../options.ts';
import { Checksum, itemOf } from './record-line.ts';

export interface ImportOptions {
  readonly store: Store;
  readonly table: string;
  /** Undefined: as exported, `hash` for a single file. */
  readonly order: Manifest['order'] | undefined;
  /** A file of NDJSON, or the folder of an export. */
  readonly source: string;
  /** Called with the records put so far. */
  readonly onProgress: (records: number) => void;
  readonly signal: AbortSignal;
}

/** The records put. Rejects with the file and line that cannot be read, or the error of a put. */
export async function importTable(options: ImportOptions): Promise<number> {
  const { source } = options;
  const isFolder = (await stat(source)).isDirectory();
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
  let records = 0;
  await sideBySide(files, options.signal, async (file, _, signal) => {
    let bad: unknown;
    const items = itemsIn(file, manifest !== undefined, (error) => (bad = error));
    for await (const batch of batchesOf(items))
      await putAll(table, batch, signal, (count) => options.onProgress((records += count)));
    if (bad !== undefined) throw bad;
  });
  return records;
}

/** Before anything is put: a file may have been cut or edited. */
async function checkSums(folder: string, { ranges }: Manifest): Promise<void> {
  for (const { file, sum, records } of ranges) {
    const found = new Checksum();
    for await (const { text } of linesOf(path.join(folder, file), true)) found.add(text);
    if (found.sum !== sum || found.records !== records)
      throw new Error(`${path.join(folder, file)} does not hold what was exported: import it as a single file`);
  }
}

/** Ends before the first line that is no record, of which it tells: those above it are put. */
async function* itemsIn(
  file: string,
  isOfExport: boolean,
  onBad: (error: unknown) => void,
): AsyncGenerator<PutItem<EncodedValue>> {
  try {
    for await (const { number, text } of linesOf(file, isOfExport)) yield itemAt(file, number, text);
  } catch (error) {
    onBad(error);
  }
}

function itemAt(file: string, number: number, text: string): PutItem<EncodedValue> {
  try {
    return itemOf(text);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`line ${number} of ${file} is no record: ${detail}`, { cause });
  }
}
