// Exports a table into a folder: `table.json`, and a file of NDJSON for each range of the table.
// After an interruption it goes on behind the last whole line.
import { constants, type FileHandle, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Store } from '../../../shared/store/index.ts';
import { makeFolder } from '../report-folder.ts';
import { wholeTextOf } from '../terminal-text.ts';
import { batchesOf, encodedTable, layoutOf, sideBySide } from './copy.ts';
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

/** For files of an export: a link there could lead to any file. Windows has no such flag. */
export const NO_LINK = constants.O_NOFOLLOW ?? 0;

const range = z.strictObject({
  file: z.string(),
  /** Where to go on; null if the range is done. */
  cursor: z.string().nullable(),
  /** Length of the whole lines before the cursor. */
  bytes: z.int(),
  records: z.int(),
  sum: z.string(),
});

const manifest = z.strictObject({
  stowageExport: z.literal(1),
  /** The store's address. */
  from: z.string(),
  table: z.string(),
  order: z.enum(['hash', 'key']),
  groupBy: z.string().optional(),
  ranges: z.array(range).refine((ranges) => ranges.every(({ file }, index) => file === fileOf(index))),
});

export type Manifest = z.infer<typeof manifest>;

/** The name of the file of a range; others are not touched. */
function fileOf(index: number): string {
  return `records-${String(index).padStart(4, '0')}.ndjson`;
}

/** Undefined if the folder has none. Throws if it is not as an export writes it. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const file = path.join(folder, 'table.json');
  try {
    await using handle = await open(file, NO_LINK);
    return manifest.parse(JSON.parse(wholeTextOf(await handle.readFile(), file)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} is no export of a table`, { cause: error });
  }
}

/** Opens the file of a range to append to it; that of a new export is not there yet. */
async function openRange(file: string, bytes: number, isNew: boolean): Promise<FileHandle> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = constants;
  const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | NO_LINK | (isNew ? O_EXCL : 0));
  const { size, nlink } = await handle.stat();
  if (size >= bytes && nlink === 1) {
    await handle.truncate(bytes);
    return handle;
  }
  await handle.close();
  throw new Error(`${file} is not as the export left it: name another folder by --out`);
}

/** Saves states one after another. An interruption leaves what the file held before. */
export function stateFile(file: string): (state: unknown) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (state) => {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    last = last.then(async () => {
      // Removed first, as a write would follow a link of that name.
      await rm(`${file}.new`, { force: true });
      await writeFile(`${file}.new`, text, { flag: 'wx' });
      await rename(`${file}.new`, file);
    });
    return last;
  };
}
