// Lets one process at a time use a folder that keeps data.
import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../cli/command-options.ts';

const LOCK_FILE = 'in-use-by-process';

/** Returns the release. Takes over a dead process's lock; throws a UsageError if one is alive. */
export async function lockFolder(option: string, folder: string): Promise<() => Promise<void>> {
  const file = path.join(folder, LOCK_FILE);
  const holder = await holderOf(file);
  if (holder !== undefined && isRunning(holder))
    throw new UsageError(`${option}: ${folder} is in use by process ${holder}: end that one, or take another folder`);
  if (holder !== undefined) await rm(file, { force: true });
  try {
    const lock = await open(file, 'wx');
    await lock.writeFile(String(process.pid));
    await lock.close();
  } catch {
    throw new UsageError(`${option}: ${folder} has just been taken by another process`);
  }
  return () => rm(file, { force: true });
}

/** Undefined where there is no lock. */
async function holderOf(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number(text);
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // It runs, under another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
