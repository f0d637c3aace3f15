// An export on disk: a folder with `table.json` and a file of NDJSON for each range of the table.
import { constants, type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { UsageError } from '../command-options.ts';
import { textOf, wholeTextOf } from '../terminal-text.ts';

/** For files of an export: a link there could lead to any file. Windows has no such flag. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;
/** More than a record of 512 KiB and its key take if every byte is escaped. */
export const LINE_BYTES_MAX = 4 * 1024 * 1024;
const END_OF_LINE = 0x0a;

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
export function fileOf(index: number): string {
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
export async function openRange(file: string, bytes: number, isNew: boolean): Promise<FileHandle> {
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

export interface Line {
  /** From 1 on. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a file of an export, which may be no link. Throws as `linesOf`. */
export async function* linesOfExport(file: string): AsyncGenerator<Line> {
  await using handle = await open(file, NO_LINK);
  yield* linesOf(handle.createReadStream({ autoClose: false }), file);
}

/** The lines but blank ones. Throws a UsageError with a line's number. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  for await (const { number, text } of rawLinesOf(chunks, name))
    if (text.trim() !== '') yield { number, text: text.replace(/\r$/, '') };
}

/** Every line, with its carriage return. Node's readline splits at U+2028, which JSON may hold. */
export async function* rawLinesOf(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(END_OF_LINE); end !== -1; end = rest.indexOf(END_OF_LINE)) {
      yield lineIn(name, ++number, rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > LINE_BYTES_MAX) break;
  }
  if (rest.length > 0) yield lineIn(name, number + 1, rest);
}

function lineIn(name: string, number: number, bytes: Buffer): Line {
  const place = `line ${number} of ${name}`;
  if (bytes.length > LINE_BYTES_MAX)
    throw new UsageError(`${place} exceeds ${LINE_BYTES_MAX} bytes: no record takes as many`);
  return { number, text: (number === 1 ? wholeTextOf : textOf)(bytes, place) };
}
