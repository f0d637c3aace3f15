// A chart of ratios: a bar for each row and column of one measure, on a logarithmic axis that the baseline divides. Then and now stand beside
// each other as ratios, each against its own baseline.
import type { Shape } from '../../../shared/compare/report/chart-panels.ts';
import { axis, FONT_PX, INK, LABEL, logAxis, svg } from '../../../shared/compare/report/chart-parts.ts';
import { ratioText } from './numbers.ts';
import type { ReportTable } from './schema.ts';
import { colourName, columnName, type ReportColumn } from './series.ts';

type ReportRow = ReportTable['rows'][number];

const BAR_PX = 13;
const GAP_PX = 10;
const LABELS_PX = { wide: 230, narrow: 122 } as const;
const HEAD_PX = 6;
const FOOT_PX = 26;
const RIGHT_PX = 12;
/** Share of the axis that is left free on either side, for the label of the longest bar. */
const LABEL_ROOM = { wide: 0.15, narrow: 0.36 } as const;
/** Below this range ticks at powers of two say more than powers of ten. */
const BINARY_RANGE_MAX = 40;

/** `columns` are those of one measure. */
export function ratioChart(table: ReportTable, columns: readonly ReportColumn[], shape: Shape): string {
  const rows = table.rows.filter((row) => columns.some(({ id }) => row.ratios[id] !== undefined || hasFailed(row, id)));
  const ratios = rows.flatMap((row) => columns.flatMap(({ id }) => row.ratios[id] ?? []));
  const { min, max, logBase } = rangeOf(ratios, LABEL_ROOM[shape.name]);
  const labelsPx = LABELS_PX[shape.name];
  const plotPx = rows.length * (Math.max(columns.length * BAR_PX, 2 * FONT_PX) + GAP_PX);
  const names = axis('category', 0);
  return svg(shape.widthPx, HEAD_PX + plotPx + FOOT_PX, {
    grid: { left: labelsPx, top: HEAD_PX, width: shape.widthPx - labelsPx - RIGHT_PX, height: plotPx },
    xAxis: {
      ...logAxis(0, min, max),
      logBase,
      startValue: 1,
      axisLabel: { ...names.axisLabel, formatter: ratioLabel, showMinLabel: min === 1, showMaxLabel: false },
    },
    yAxis: {
      ...names,
      data: rows.map((row) => nameOf(row, shape)),
      inverse: true,
      axisLine: { show: false },
      axisLabel: { color: INK, fontSize: FONT_PX, width: labelsPx - 44, overflow: 'break', interval: 0 },
    },
    series: columns.map((column) => ({
      type: 'bar' as const,
      silent: true,
      name: columnName(column),
      barWidth: BAR_PX - 2,
      barGap: '15%',
      itemStyle: styleOf(table, column),
      data: rows.map((row) => bar(row, column)),
      markLine: {
        silent: true,
        symbol: 'none',
        label: { show: false },
        lineStyle: { color: INK, type: 'solid' as const, width: 1 },
        data: [{ xAxis: 1 }],
      },
    })),
  });
}

/** Packages are left to the table, and on a phone what stands in as well. */
function nameOf({ name, standIn }: ReportRow, shape: Shape): string {
  if (shape.name === 'narrow') return withoutPackage(name);
  return standIn === undefined ? name : `${name}\nnow: ${withoutPackage(standIn)}`;
}

function withoutPackage(name: string): string {
  return name.replace(/ \([^()]*\)$/, '');
}

function hasFailed({ figures }: ReportRow, columnId: string): boolean {
  const figure = figures[columnId];
  return figure !== undefined && 'failed' in figure;
}

/** A ratio of 1 has no length: its label stands where the baseline is. */
function bar(row: ReportRow, { id }: ReportColumn) {
  const ratio = row.ratios[id];
  if (ratio === undefined) {
    if (!hasFailed(row, id)) return { value: '-' };
    return { value: 1, label: { ...LABEL, position: 'right' as const, formatter: 'failed' } };
  }
  const position = ratio < 1 ? ('left' as const) : ('right' as const);
  return { value: ratio, label: { ...LABEL, position, formatter: ratioText(ratio) } };
}

function styleOf(table: ReportTable, column: ReportColumn) {
  const color = `var(--${colourName(table, column)})`;
  return column.era === 'model' ? { color, opacity: 0.4, borderColor: INK, borderType: 'dashed' as const } : { color };
}

function rangeOf(ratios: readonly number[], room: number): { min: number; max: number; logBase: number } {
  const positive = ratios.filter((ratio) => ratio > 0);
  const [low, high] = [Math.min(1, ...positive), Math.max(1, ...positive)];
  const logBase = high / low > BINARY_RANGE_MAX ? 10 : 2;
  const free = Math.max(high / low, 2) ** room;
  return { min: low < 1 ? low / free : 1, max: high * free, logBase };
}

function ratioLabel(value: number): string {
  return ratioText(value).replace(/\.0+$/, '');
}
