// The model's figures in README: the command keeps them in bands.txt, too, for a test to compare.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { bandsTable } from '../../../shared/lab/report/modelled/bands.ts';
import type { PlayedRow } from '../../../shared/lab/report/modelled/goals.ts';

export const BANDS = fileURLToPath(new URL('bands.txt', import.meta.url));
export const README = fileURLToPath(new URL('../../../README.md', import.meta.url));

const BEGIN = '<!-- model: begin -->\n';
const END = '<!-- model: end -->';

/** README with the table between its two comments. Throws an Error if they are gone. */
export function withBands(readme: string, table: string): string {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`README has no ${BEGIN.trim()} before an ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${table}\n${readme.slice(end)}`;
}

/** Keeps the table of these rows, in README too. Resolves to it. */
export async function writeBands(played: readonly PlayedRow[]): Promise<string> {
  const table = await format(bandsTable(played), { parser: 'markdown' });
  const readme = withBands(await readFile(README, 'utf8'), table);
  await writeFile(BANDS, table);
  await writeFile(README, readme);
  return table;
}
