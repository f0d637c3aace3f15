// Exports a table into a folder. After an interruption it goes on behind the last whole line.
import { type FileHandle, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Store } from '../../../shared/store/index.ts';
import { makeFolder } from '../report-folder.ts';
import { batchesOf, sideBySide } from './batches.ts';
import { encodedTable, layoutOf } from './copy.ts';
import { fileOf, type Manifest, openRange, readManifest, stateFile } from './files.ts';
import { Checksum, lineOf } from './record-line.ts';

export interface ExportOptions {
  readonly store: Store;
  /** The store's address. */
  readonly from: string;
  readonly table: string;
  readonly folder: string;
  readonly ranges: number;
  /** Called with the records that the files hold. */
  readonly onProgress: (records: number) => void;
  readonly signal: AbortSignal;
}

/** Gives the manifest. Rejects if the folder has another export, or a finished one. */
export async function exportTable(options: ExportOptions): Promise<Manifest> {
  const { folder } = options;
  const table = await encodedTable(options.store, options.table, { create: false });
  await makeFolder('--out', folder);
  const begun = await readManifest(folder);
  if (begun !== undefined) checkBegun(begun, options);
  else if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: name another folder by --out`);
  const cursors = begun === undefined ? await table.partitions(options.ranges, { signal: options.signal }) : [];
  const [bytes, records, { sum }] = [0, 0, new Checksum()];
  const manifest: Manifest = begun ?? {
    stowageExport: 1,
    from: options.from,
    table: options.table,
    ...layoutOf(table),
    ranges: cursors.map((cursor, index) => ({ file: fileOf(index), cursor, bytes, records, sum })),
  };
  const save = stateFile(path.join(folder, 'table.json'));
  await save(manifest);
  await sideBySide(manifest.ranges, options.signal, async (range, _, signal) => {
    if (range.cursor === null) return;
    const checksum = new Checksum(range);
    const scan = table.scan({ cursor: range.cursor, signal });
    // Opened once the store has taken the cursor: opening cuts the file.
    let file: FileHandle | undefined;
    try {
      for await (const entries of batchesOf(scan)) {
        file ??= await openRange(path.join(folder, range.file), range.bytes, begun === undefined);
        const lines = entries.map((entry) => lineOf(entry));
        for (const line of lines) checksum.add(line);
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        await file.appendFile(bytes);
        await file.datasync();
        const { records, sum } = checksum;
        Object.assign(range, { cursor: scan.cursor ?? null, bytes: range.bytes + bytes.length, records, sum });
        await save(manifest);
        options.onProgress(manifest.ranges.reduce((all, one) => all + one.records, 0));
      }
    } finally {
      await file?.close();
    }
  });
  return manifest;
}

/** Throws unless the export in the folder is this one and has something left to do. */
function checkBegun(begun: Manifest, { folder, table, from }: ExportOptions): void {
  if (begun.table !== table || begun.from !== from)
    throw new Error(
      `${folder} holds an export of the table ${begun.table} of ${begun.from}: name another folder by --out`,
    );
  if (begun.ranges.every(({ cursor }) => cursor === null))
    throw new Error(`${folder} holds a finished export: name another folder by --out, or remove this one`);
}
