// A folder for a mutant's sources, removed when the work ends or a signal comes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const end = (): void => process.exit(130);

/** Runs `work` in a folder whose name begins with `prefix`. A signal ends the process with 130. */
export async function inNewFolder<T>(prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(path.join(tmpdir(), prefix));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work(folder);
  } finally {
    process.off('exit', remove);
    for (const signal of SIGNALS) process.off(signal, end);
    remove();
  }
}
