// A table of figures as sheets, one for each measure, with every cell in words.
import { withUnit } from '../../kit/format.ts';
import { type Column, type Figure, type FigureTable, ratioOf, type Row, typicalOf } from './schema.ts';

export interface Cell {
  /** To the row's baseline in this column. */
  readonly ratio?: number;
  /** The figure with its unit, `failed`, or why there is none; empty where none was meant to be. */
  readonly text: string;
  /** The lowest and the highest of several runs. */
  readonly spread?: string;
}

export interface Sheet {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly { readonly row: Row; readonly cells: readonly Cell[] }[];
}

export function sheetsOf(table: FigureTable): Sheet[] {
  return [...Map.groupBy(table.columns, ({ measure }) => measure)].map(([measure, columns]) => ({
    caption: `${table.title}: ${measure}`,
    columns,
    rows: table.rows
      .filter(({ figures }) => columns.some(({ id }) => figures[id] !== undefined && !('missing' in figures[id])))
      .map((row) => ({ row, cells: columns.map((column) => cellOf(table, row, column)) })),
  }));
}

function cellOf(table: FigureTable, { id, figures }: Row, column: Column): Cell {
  const figure = figures[column.id];
  const typical = typicalOf(table, figure);
  if (figure === undefined || typical === undefined) return { text: whyNone(figure) };
  const ratio = ratioOf(table, id, column.id);
  const spread = 'runs' in figure && figure.runs.length > 1 ? { spread: spreadOf(figure.runs, column.unit) } : {};
  return { ...(ratio === undefined ? {} : { ratio }), text: withUnit(typical, column.unit), ...spread };
}

function whyNone(figure: Figure | undefined): string {
  if (figure === undefined || 'runs' in figure) return '';
  return 'failed' in figure ? 'failed' : figure.missing;
}

/** `128 to 161 µs`: the unit once, where it is the same. */
function spreadOf(runs: readonly number[], unit: string): string {
  const [low, high] = [Math.min(...runs), Math.max(...runs)].map((run) => withUnit(run, unit)) as [string, string];
  const end = high.slice(high.indexOf(' '));
  return low === high ? low : `${low.endsWith(end) ? low.slice(0, -end.length) : low} to ${high}`;
}

export function columnName({ era, where }: Column): string {
  return `${era}: ${where}`;
}
