// Bars of ratios, one picture a row: each from the baseline, which all rows of a sheet have at the
// same place, on one logarithmic scale.
import { trackHtml, trackOf } from '../track.ts';
import type { Column } from './schema.ts';
import type { Cell } from './sheets.ts';

/** The scale reaches so far at least. */
const RANGE_MIN = 2;

/** A picture for each row; empty where it has no ratio. */
export function ratioBars(rows: readonly (readonly Cell[])[], columns: readonly Column[]): string[] {
  const ratios = rows.flatMap((cells) => cells.flatMap(({ ratio = 0 }) => (ratio > 0 ? ratio : [])));
  const track = trackOf(ratios, RANGE_MIN);
  return rows.map((cells) =>
    cells
      .map(({ ratio = 0 }, at) => (ratio > 0 ? trackHtml(track, [1, ratio], colourOf(columns, columns[at]!)) : ''))
      .join(''),
  );
}

/** Then has one colour, and each place of now its own. */
export function colourOf(columns: readonly Column[], column: Column): string {
  if (column.era === 'then') return 'var(--then)';
  const at = columns.filter(({ era }) => era === column.era).indexOf(column);
  return `var(--${column.era}-${at})`;
}
