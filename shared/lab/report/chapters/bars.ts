// Bars of ratios, one picture a row. All rows of a sheet share the scale.
import { INK, line, logScale, rect, svg } from '../chart-parts.ts';
import type { Column } from './schema.ts';
import type { Cell } from './sheets.ts';

const WIDTH_PX = 160;
const BAR_PX = 9;
const RANGE_MIN = 2;

/** Empty where a row has no ratio. */
export function ratioBars(rows: readonly (readonly Cell[])[], columns: readonly Column[]): string[] {
  const ratios = rows.flatMap((cells) => cells.flatMap(({ ratio = 0 }) => (ratio > 0 ? ratio : [])));
  const range = [Math.min(1 / RANGE_MIN, ...ratios), Math.max(RANGE_MIN, ...ratios)] as const;
  const x = logScale(range, [1, WIDTH_PX - 1], 10);
  const height = columns.length * BAR_PX;
  const baseline = line(
    [0, height].map((y) => ({ x: x.at(1), y })),
    { colour: INK, widthPx: 1 },
  );
  return rows.map((cells) => {
    const bars = cells.map(({ ratio = 0 }, at) => {
      if (ratio <= 0) return '';
      const from = { x: x.at(1), y: at * BAR_PX + 1 };
      const to = { x: x.at(ratio), y: (at + 1) * BAR_PX - 1 };
      return rect(from, to, `fill="${colourOf(columns, columns[at]!)}"`);
    });
    return bars.every((bar) => bar === '') ? '' : svg(WIDTH_PX, height, bars.join('') + baseline);
  });
}

/** Then has one colour, and each place of now its own. */
export function colourOf(columns: readonly Column[], column: Column): string {
  if (column.era === 'then') return 'var(--then)';
  const at = columns.filter(({ era }) => era === column.era).indexOf(column);
  return `var(--${column.era}-${at})`;
}
