// Figures as words, for findings.
import { type Figure, type FigureTable, meanOf, ratioOf } from './results.ts';

/** A number to about three digits. */
export function short(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(Math.abs(value) < 1 ? 2 : 3)));
}

/** Mean and, of several runs, the lowest and highest: `17.8 (17.5 to 18.2)`. */
export function spread(figure: Figure | undefined): string {
  const mean = meanOf(figure);
  if (mean === undefined || figure === undefined || !('runs' in figure)) return 'nothing';
  const { runs } = figure;
  return runs.length === 1
    ? short(mean)
    : `${short(mean)} (${short(Math.min(...runs))} to ${short(Math.max(...runs))})`;
}

/** The ratio to the row's baseline in one column. */
export function ratioText(table: FigureTable, rowId: string, columnId: string): string {
  const ratio = ratioOf(table, rowId, columnId);
  return ratio === undefined ? 'unknown' : short(ratio);
}

/** The ratio to the row's baseline in each of the columns that have one: `2.6 (Azurite) and 1.4 (memory driver)`. */
export function ratiosText(table: FigureTable, rowId: string, columnIds: readonly string[]): string {
  return listText(
    table.columns.flatMap(({ id, where }) => {
      const ratio = columnIds.includes(id) ? ratioOf(table, rowId, id) : undefined;
      return ratio === undefined ? [] : [`${short(ratio)} (${where})`];
    }),
  );
}

/** The mean in each of the columns that have one, with its place. */
export function meansText(table: FigureTable, rowId: string, columnIds: readonly string[]): string {
  const figures = table.rows.find(({ id }) => id === rowId)?.figures;
  return listText(
    table.columns.flatMap(({ id, where }) => {
      const mean = columnIds.includes(id) ? meanOf(figures?.[id]) : undefined;
      return mean === undefined ? [] : [`${short(mean)} (${where})`];
    }),
  );
}

function listText(parts: readonly string[]): string {
  if (parts.length === 0) return 'nothing (not measured in this run)';
  return [parts.slice(0, -1).join(', '), parts.at(-1)!].filter((part) => part !== '').join(' and ');
}

/** The ratios themselves, of the columns that have one. */
export function ratiosOf(table: FigureTable, rowId: string, columnIds: readonly string[]): number[] {
  return columnIds.map((id) => ratioOf(table, rowId, id)).filter((ratio) => ratio !== undefined);
}

/** `open` where there is nothing to judge by; otherwise whether it is so of every ratio. */
export function verdictOf(
  ratios: readonly number[],
  isSo: (ratio: number) => boolean,
): 'holds' | 'does not hold' | 'open' {
  if (ratios.length === 0) return 'open';
  return ratios.every(isSo) ? 'holds' : 'does not hold';
}
