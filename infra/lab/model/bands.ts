// The model's headline figures as bands, in README: the command keeps them in bands.txt, too, for a
// test to compare.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import type { ModelLayout } from '../../../shared/lab/kit/dimensions.ts';
import { factor } from '../../../shared/lab/kit/format.ts';
import { median } from '../../../shared/lab/kit/numbers.ts';
import { isMiddle } from '../../../shared/lab/plan/modelled/plan-bands.ts';
import type { PlayedRow } from '../../../shared/lab/report/modelled/goals.ts';
import { PROVIDER_SHORT_NAMES } from '../../../shared/lab/report/names.ts';

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

const AGAINST: readonly (readonly [layout: ModelLayout, words: string])[] = [
  ['record', 'plain'],
  ['conditional', 'conditional'],
];

/** Markdown: a line for each cloud, figure and layout that containers are set against. */
export function bandsTable(played: readonly PlayedRow[]): string {
  const figures = Map.groupBy(played, ({ row }) => `${PROVIDER_SHORT_NAMES[row.provider]} | ${row.id}`);
  const lines = [...figures].flatMap(([figure, rows]) =>
    AGAINST.map(([layout, words]) => `| ${figure} | ${words} | ${bandOf(rows, layout)} |`),
  );
  const head = ['| cloud | figure | container : | middle | lowest | highest |', '| - | - | - | -: | - | - |'];
  return `${[...head, ...lines].join('\n')}\n`;
}

function bandOf(rows: readonly PlayedRow[], against: ModelLayout): string {
  const values = rows
    .map((one) => ({ guess: one.row.group, ratio: ratioOf(one, against) }))
    .toSorted((one, other) => one.ratio - other.ratio);
  const middle = median(values.filter(({ guess }) => isMiddle(guess)).map(({ ratio }) => ratio));
  const ends = [values[0]!, values.at(-1)!].map(({ guess, ratio }) => `${factor(ratio)} (${guess})`);
  return [factor(middle), ...ends].join(' | ');
}

function ratioOf({ results }: PlayedRow, against: ModelLayout): number {
  const rateOf = (layout: ModelLayout): number =>
    results.find(({ cell }) => cell.layout === layout)!.operationsPerSecond;
  return rateOf('container') / rateOf(against);
}
