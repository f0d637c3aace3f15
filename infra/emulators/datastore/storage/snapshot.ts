// Keeps a storage in a file between runs: written when the emulator is closed, read when it starts. If the process ends in any other way,
// everything written since it started is lost.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import type { Dump, Storage } from './storage.ts';

const FORMAT = 'stowage-datastore-1';

/** Does nothing if there is no such file. Rejects, with nothing changed, if it holds something else. */
export async function loadSnapshot(storage: Storage, file: string): Promise<void> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (bytes === undefined) return;
  const { format, dump } = contentOf(bytes);
  if (format !== FORMAT || dump === undefined)
    throw new Error(`${file} holds no data of this emulator; remove it or name another`);
  // deserialize returns views of the file's bytes.
  storage.restore(dump);
}

/** Replaces the file as a whole: a failure leaves the old one. */
export async function saveSnapshot(storage: Storage, file: string): Promise<void> {
  const written = `${file}.new`;
  await writeFile(written, serialize({ format: FORMAT, dump: storage.dump() }));
  await rename(written, file);
}

function contentOf(bytes: Buffer): { readonly format?: string; readonly dump?: Dump } {
  try {
    const content: unknown = deserialize(bytes);
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}
