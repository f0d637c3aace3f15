// The guard: the figures of a small plan, kept in the repository.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { guardChanges, guardText } from '../../../shared/lab/report/modelled/guard.ts';
import type { ModelResult } from '../../../shared/lab/cloud/run/cell.ts';

const FILE = fileURLToPath(new URL('guard.tsv', import.meta.url));

/** Every figure as it is now. Node.js compresses pages, so its version belongs to the figures. */
function textOf(results: readonly ModelResult[]): string {
  const from = 'a MODEL of the clouds; written by npm run model -- --accept';
  return guardText(results, `${from}; Node.js ${process.versions.node}`);
}

/** Compares with what is kept. Throws an Error that shows each row that moved, before and after. */
export async function checkGuard(results: readonly ModelResult[]): Promise<string> {
  const changes = guardChanges(await readFile(FILE, 'utf8'), textOf(results));
  if (changes === '') return `all ${results.length} rows of the guard are as they were`;
  throw new Error(`figures of the model moved:\n${changes}\nif that is meant: npm run model -- --accept`);
}

export async function acceptGuard(results: readonly ModelResult[]): Promise<string> {
  const text = textOf(results);
  const changes = guardChanges(await readFile(FILE, 'utf8'), text);
  await writeFile(FILE, text);
  return changes === '' ? 'nothing moved' : `${changes}\nkept in ${FILE}`;
}
