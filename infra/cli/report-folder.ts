// Folders that a command writes to: they are made and tried before anything starts.
import { access, constants, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from './command-options.ts';

/** Makes the folder if need be. Throws a UsageError if it cannot be made or written to. */
export async function makeFolder(option: string, folder: string): Promise<void> {
  try {
    await make(path.resolve(folder));
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new UsageError(`${option} takes a folder that can be written to: ${(error as Error).message}`);
  }
}

/** Node's own `recursive` loops for ever below /proc, which exists and answers ENOENT. */
async function make(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  await make(path.dirname(folder));
  await mkdir(folder);
}
