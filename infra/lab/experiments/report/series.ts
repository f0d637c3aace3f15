// The columns of one measure: how they are called beside each other, and in which colour.
import type { ReportTable } from './schema.ts';

export type ReportColumn = ReportTable['columns'][number];

/** Places of a table beyond this many share colours. */
const PLACE_COLOURS = 4;

/** Measures in the order in which the columns first name them. */
export function measuresOf({ columns }: Pick<ReportTable, 'columns'>): string[] {
  return [...new Set(columns.map(({ measure }) => measure))];
}

/** CSS class suffix of the column's colour: `then`, or one for each place where something was measured now. */
export function colourName(table: Pick<ReportTable, 'columns'>, column: ReportColumn): string {
  if (column.era === 'then') return 'then';
  const places = [...new Set(table.columns.filter(({ era }) => era !== 'then').map(({ where }) => where))];
  return `now-${places.indexOf(column.where) % PLACE_COLOURS}`;
}

export function columnName({ era, where }: ReportColumn): string {
  return era === 'model' ? `model: ${where}` : `${era}: ${where}`;
}

/** Whether any row but the baselines has a ratio in one of these columns. */
export function hasRatios({ rows }: Pick<ReportTable, 'rows'>, columns: readonly ReportColumn[]): boolean {
  return rows.some((row) => row.id !== row.against && columns.some(({ id }) => row.ratios[id] !== undefined));
}
