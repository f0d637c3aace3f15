// The headline figures of the model as bands: a table of Markdown, as README shows it.
import type { ModelLayout } from '../../kit/dimensions.ts';
import { factor } from '../../kit/format.ts';
import { median } from '../../kit/numbers.ts';
import { isMiddle } from '../../plan/modelled/plan-bands.ts';
import { PROVIDER_SHORT_NAMES } from '../names.ts';
import type { PlayedRow } from './goals.ts';

const AGAINST: readonly (readonly [layout: ModelLayout, words: string])[] = [
  ['record', 'plain'],
  ['conditional', 'conditional'],
];

/** A line for each cloud, figure and layout that containers are set against. */
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
