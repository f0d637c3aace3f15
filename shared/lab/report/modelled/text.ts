// The figures of a plan for a terminal, plain ASCII: a block for each provider and group, a line for each cell, the goals.
import { textTable } from '../../kit/text-table.ts';
import { PROVIDER_NAMES } from '../names.ts';
import { COLUMN_WORDS, COLUMNS, decimalOr } from './columns.ts';
import { type GoalResult, goalsOf, goalsTitle, type PlayedRow } from './goals.ts';

/** All rows as tables, then the goals, with a final newline. */
export function playedText(played: readonly PlayedRow[]): string {
  const blocks = Map.groupBy(played, ({ row }) => `${PROVIDER_NAMES[row.provider]}, modelled. ${row.group}`);
  const tables = [...blocks].map(([title, rows]) => {
    const lines = rows.flatMap(({ results }) =>
      results.map((result) => [
        result.cell.case,
        result.cell.layout,
        ...Object.values(COLUMNS).map((column) => column(result, results)),
      ]),
    );
    return `${title}\n${textTable(['case', 'layout', ...Object.keys(COLUMNS)], lines, 2)}`;
  });
  const goals = goalsOf(played);
  return `${[...tables, ...(goals.length === 0 ? [] : [goalsText(goals)]), COLUMN_WORDS.join('\n')].join('\n\n')}\n`;
}

function goalsText(goals: readonly GoalResult[]): string {
  const lines = goals.map(({ provider, case: name, what, wanted, value, isReached }) => [
    provider,
    name,
    what,
    wanted,
    decimalOr(value),
    isReached ? 'yes' : 'NO',
  ]);
  return `${goalsTitle(goals)}\n${textTable(['provider', 'case', 'figure', 'wanted', 'is', 'reached'], lines, 4)}`;
}
