// What `npm run scale` plays of a row.
import type { Cell, Layout, Times } from '../../../shared/lab/scale/play.ts';
import type { Row } from '../../../shared/lab/scale/rows.ts';

/** A table has found its shape by then. */
export const TIMES: Times = { warmUpMs: 20_000, windowMs: 5_000 };

/** What others wrote before does not matter to single entities. */
const SINGLE_TIMES: Times = { warmUpMs: 500, windowMs: 5_000 };

export function cellOf(row: Row, layout: Layout, rest: Pick<Cell, 'times' | 'seed' | 'profile'>): Cell {
  return { row, layout, ...rest, times: layout === 'container' ? rest.times : SINGLE_TIMES };
}
