// An export on disk: a folder with `table.json` and a file of NDJSON for each range of the table.
import { open, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const range = z.strictObject({
  file: z.string(),
  /** Goes on there; null: it is done. */
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
  ranges: z.array(range),
});

export type Manifest = z.infer<typeof manifest>;

/** Undefined if there is none in the folder. Throws if it is none that this code wrote. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    return manifest.parse(JSON.parse(await readFile(path.join(folder, 'table.json'), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${path.join(folder, 'table.json')} is no export of a table`, { cause: error });
  }
}

/** A file of JSON that is replaced in one step: an interruption leaves what it held before. */
export class StateFile {
  readonly #file: string;
  #last: Promise<void> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /** Saves one state after another. */
  save(state: unknown): Promise<void> {
    const text = `${JSON.stringify(state, null, 2)}\n`;
    this.#last = this.#last.then(async () => {
      await writeFile(`${this.#file}.new`, text);
      await rename(`${this.#file}.new`, this.#file);
    });
    return this.#last;
  }
}

/**
 * The lines of a file, with their numbers from 1; empty ones are left out. Node's readline also
 * splits at U+2028 and U+2029, which JSON may hold.
 */
export async function* linesOf(file: string): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  await using handle = await open(file);
  let number = 0;
  let rest = '';
  for await (const chunk of handle.createReadStream({ autoClose: false, encoding: 'utf8' })) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      number += 1;
      const text = line.replace(/\r$/, '');
      if (text !== '') yield { number, text };
    }
  }
  if (rest !== '') yield { number: number + 1, text: rest };
}
