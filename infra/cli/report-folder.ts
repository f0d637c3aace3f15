// Folders that a command is told to use: they are there and may be written to before anything
// starts.
import { access, constants, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from './command-options.ts';

/**
 * Makes the folder unless it is there. Throws a UsageError that names the option where it cannot be
 * made, or not be written to.
 */
export async function makeFolder(option: string, folder: string): Promise<void> {
  try {
    await make(path.resolve(folder));
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new UsageError(`${option} takes a folder that can be written to: ${(error as Error).message}`);
  }
}

/** Node's own `recursive` never ends below /proc, which is there and answers ENOENT. */
async function make(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  await make(path.dirname(folder));
  await mkdir(folder);
}
