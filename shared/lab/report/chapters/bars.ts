// Bars of ratios, one picture a row: each from the baseline, which all rows of a sheet have at the
// same place, on one logarithmic scale.
import { INK, line, logScale, rect, svg } from '../chart-parts.ts';
import type { Column } from './schema.ts';
import type { Cell } from './sheets.ts';

const WIDTH_PX = 160;
const BAR_PX = 9;
/** The scale reaches so far at least. */
const RANGE_MIN = 2;

/** A picture for each row; empty where it has no ratio. */
export function ratioBars(rows: readonly (readonly Cell[])[], columns: readonly Column[]): string[] {
  const ratios = rows.flatMap((cells) => cells.flatMap(({ ratio = 0 }) => (ratio > 0 ? ratio : [])));
  const range = [Math.min(1 / RANGE_MIN, ...ratios), Math.max(RANGE_MIN, ...ratios)] as const;
  const x = logScale(range, [1, WIDTH_PX - 1], 10);
  return rows.map((cells) => {
    const bars = cells.map(({ ratio = 0 }, at) => {
      const [from, to] = [
        { x: x.at(1), y: at * BAR_PX + 1 },
        { x: x.at(ratio), y: (at + 1) * BAR_PX - 1 },
      ];
      return ratio > 0 ? rect(from, to, `fill="${colourOf(columns, columns[at]!)}"`) : '';
    });
    if (bars.every((bar) => bar === '')) return '';
    const height = columns.length * BAR_PX;
    const baseline = [
      { x: x.at(1), y: 0 },
      { x: x.at(1), y: height },
    ];
    return svg(WIDTH_PX, height, bars.join('') + line(baseline, { colour: INK, widthPx: 1 }));
  });
}

/** Then has one colour, and each place of now its own. */
export function colourOf(columns: readonly Column[], column: Column): string {
  if (column.era === 'then') return 'var(--then)';
  const at = columns.filter(({ era }) => era === column.era).indexOf(column);
  return `var(--${column.era}-${at})`;
}
