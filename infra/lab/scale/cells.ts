// What `npm run scale` plays of a row: a table that has found its shape, on the even cloud.
import type { Cell, Layout, Times } from '../../../shared/lab/scale/play.ts';
import { EVEN_PROFILE, type Row } from '../../../shared/lab/scale/rows.ts';

/** A table has found its shape by then. */
export const TIMES: Times = { warmUpMs: 20_000, windowMs: 5_000 };

/** What others wrote before does not matter to single entities. */
const SINGLE_TIMES: Times = { warmUpMs: 500, windowMs: 5_000 };

export function cellOf(row: Row, layout: Layout, times: Times, seed: number, profile = EVEN_PROFILE): Cell {
  return { row, layout, times: layout === 'container' ? times : SINGLE_TIMES, seed, profile };
}
