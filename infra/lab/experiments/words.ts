// Figures as words, for findings.
import { factor, threeDigits } from '../../../shared/lab/kit/format.ts';
import { type FigureTable, type Finding, meanOf, ratioOf } from '../../../shared/lab/report/chapters/schema.ts';

/** The ratio to the row's baseline in one column. */
export function ratioText(table: FigureTable, rowId: string, columnId: string): string {
  const ratio = ratioOf(table, rowId, columnId);
  return ratio === undefined ? 'unknown' : factor(ratio);
}

/**
 * The ratio to the row's baseline in each of the columns that have one: `2.6 x (Azurite) and 1.4 x
 * (memory driver)`.
 */
export function ratiosText(table: FigureTable, rowId: string, columnIds: readonly string[]): string {
  return inColumns(table, columnIds, (column) => ratioOf(table, rowId, column), factor);
}

/** The mean in each of the columns that have one, with its place. */
export function meansText(table: FigureTable, rowId: string, columnIds: readonly string[]): string {
  const figures = table.rows.find(({ id }) => id === rowId)?.figures;
  return inColumns(table, columnIds, (column) => meanOf(figures?.[column]), threeDigits);
}

function inColumns(
  { columns }: FigureTable,
  columnIds: readonly string[],
  valueIn: (columnId: string) => number | undefined,
  format: (value: number) => string,
): string {
  const parts = columns.flatMap(({ id, where }) => {
    const value = columnIds.includes(id) ? valueIn(id) : undefined;
    return value === undefined ? [] : [`${format(value)} (${where})`];
  });
  if (parts.length === 0) return 'nothing (not measured in this run)';
  return [parts.slice(0, -1).join(', '), parts.at(-1)!].filter((part) => part !== '').join(' and ');
}

/** The ratios themselves, of the columns that have one. */
export function ratiosOf(table: FigureTable, rowId: string, columnIds: readonly string[]): number[] {
  return columnIds.map((id) => ratioOf(table, rowId, id)).filter((ratio) => ratio !== undefined);
}

/** `open` where there is nothing to judge by; otherwise whether it is so of every ratio. */
export function verdictOf(ratios: readonly number[], isSo: (ratio: number) => boolean): Finding['verdict'] {
  if (ratios.length === 0) return 'open';
  return ratios.every(isSo) ? 'holds' : 'does not hold';
}
