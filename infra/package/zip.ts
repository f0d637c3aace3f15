// Zips whose bytes depend on contents alone, so that deploying the same code changes nothing.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { unzipSync, type Zippable, zipSync } from 'fflate';

/** The mode of a plain file that everybody may read; it counts in zips made by Unix alone. */
const UNIX = 3;
const MODE = (0o100644 << 16) >>> 0;

export function zip(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  // The first moment of a zip, in local parts: zips keep local time, and fflate reads it so.
  const mtime = new Date(1980, 0, 1);
  const entries: Zippable = {};
  for (const name of [...files.keys()].sort())
    entries[name] = [files.get(name)!, { level: 6, mtime, os: UNIX, attrs: MODE }];
  return zipSync(entries);
}

/** Writes the archive's files into `dir`. Throws if a name leads elsewhere. */
export async function unzipTo(archive: Uint8Array, dir: string): Promise<void> {
  for (const [name, contents] of Object.entries(unzipSync(archive))) {
    const file = path.resolve(dir, name);
    if (!file.startsWith(path.resolve(dir) + path.sep)) throw new Error(`the archive holds a file outside it: ${name}`);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
}
