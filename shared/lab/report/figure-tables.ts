// Tables that the page and the terminal share: a row of entries for each figure.
import { decimal, factor, intervalText, whole } from '../kit/figure-format.ts';
import { cellWords } from './names.ts';
import type { Against, Report } from './report-schema.ts';

/** A figure, or a figure and the interval that stands below it in small print. */
export type Entry = string | readonly [figure: string, small: string];

export interface FigureTable {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly Entry[])[];
}

export function searchTable({ searches }: Pick<Report, 'searches'>): FigureTable {
  const rows = searches.map(({ search, ratePerSecondHeld, latencyMs, ...cell }): Entry[] => [
    cellWords(cell),
    `p${search.percentile} < ${search.latencyMsMax} ms`,
    [whole(ratePerSecondHeld.median), intervalText(ratePerSecondHeld, whole)],
    latencyMs === null ? '-' : decimal(latencyMs.median),
  ]);
  return { caption: 'The highest rate that holds a latency', header: ['cell', 'held', 'operations/s', 'ms'], rows };
}

/** The figures that changed since an earlier report, beyond what may be chance. */
export function changeTable({ changes, startedAt, significance }: Against): FigureTable {
  const told = changes.filter(({ verdict }) => verdict !== 'undecided');
  const chance = Math.round(changes.length * significance);
  const rows = told.map((change): Entry[] => [
    cellWords(change),
    change.figure,
    [decimal(change.before.median), intervalText(change.before, decimal)],
    [decimal(change.now.median), intervalText(change.now, decimal)],
    factor(change.ratio),
    change.p.toFixed(3),
  ]);
  const caption = `Against the report of ${startedAt.slice(0, 10)}: ${told.length} of ${changes.length} figures changed with p below ${significance}; by chance about ${chance} would.`;
  return { caption, header: ['cell', 'figure', 'before', 'now', 'ratio', 'p'], rows };
}
