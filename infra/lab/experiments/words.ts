// Figures as words and verdicts, for findings.
import { PROVIDERS } from '../../../shared/lab/kit/dimensions.ts';
import { factor, threeDigits } from '../../../shared/lab/kit/format.ts';
import { type FigureTable, type Finding, meanOf, ratioOf } from '../../../shared/lab/report/chapters/schema.ts';
import { list } from '../../../shared/lab/report/names.ts';

export function ratioText(table: FigureTable, rowId: string, columnId: string): string {
  const ratio = ratioOf(table, rowId, columnId);
  return ratio === undefined ? 'unknown' : factor(ratio);
}

/** In each of the columns that have a ratio: `2.6 x (Azurite) and 1.4 x (memory driver)`. */
export function ratiosText(table: FigureTable, rowId: string, columnIds: readonly string[]): string {
  return inColumns(table, columnIds, (column) => ratioOf(table, rowId, column), factor);
}

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
  return parts.length === 0 ? 'nothing (not measured in this run)' : list(parts);
}

export function ratiosOf(table: FigureTable, rowId: string, columnIds: readonly string[]): number[] {
  return columnIds.map((id) => ratioOf(table, rowId, id)).filter((ratio) => ratio !== undefined);
}

export function columnsNow(suffix: string): string[] {
  return PROVIDERS.map((provider) => `${provider}-${suffix}`);
}

/** Within this factor of the fastest a run cannot tell the two apart. */
export const CLOSE = 1.25;

/** Rows by their ratio in a column, the lowest first. */
export function ranked(table: FigureTable, column: string): { id: string; name: string; ratio: number }[] {
  return table.rows
    .flatMap(({ id, name, standIn = name }) => {
      const ratio = ratioOf(table, id, column);
      return ratio === undefined ? [] : [{ id, name: standIn, ratio }];
    })
    .toSorted((one, other) => one.ratio - other.ratio);
}

/** A row's ratios in one measure, then and now: in words, and those of now themselves. */
export function ratiosIn(table: FigureTable, suffix: string) {
  const columns = columnsNow(suffix);
  return {
    before: (row: string) => ratioText(table, row, `then-${suffix}`),
    now: (row: string) => ratiosText(table, row, columns),
    of: (row: string) => ratiosOf(table, row, columns),
  };
}

/** `open` where there is nothing to judge by; otherwise whether it is so of every ratio. */
export function verdictOf(ratios: readonly number[], isSo: (ratio: number) => boolean): Finding['verdict'] {
  if (ratios.length === 0) return 'open';
  return ratios.every(isSo) ? 'holds' : 'does not hold';
}

/** Judges by all of these ratios; `open` where one of them is not known. */
export function judgedBy(
  ratios: readonly (number | undefined)[],
  what: string,
  judge: (...ratios: number[]) => readonly [isSo: boolean, text: string],
): Finding {
  const known = ratios.filter((ratio) => ratio !== undefined);
  if (known.length < ratios.length) return { verdict: 'open', text: `${what} was not measured in this run.` };
  const [isSo, text] = judge(...known);
  return { verdict: isSo ? 'holds' : 'does not hold', text };
}
