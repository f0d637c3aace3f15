// A chart of ratios: a bar for each row and column of one measure, on a logarithmic axis that the baseline divides. Then and now stand beside
// each other as ratios, each against its own baseline.
import {
  FAINT,
  FONT_PX,
  INK,
  line,
  logScale,
  rect,
  type Scale,
  type Shape,
  svg,
  text,
} from '../../../../shared/lab/report/chart-parts.ts';
import { ratioText } from './numbers.ts';
import type { ReportTable } from './schema.ts';
import { colourName, type ReportColumn } from './series.ts';

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
  const { range, base } = rangeOf(ratios, LABEL_ROOM[shape.name]);
  const rowPx = Math.max(columns.length * BAR_PX, 2 * FONT_PX) + GAP_PX;
  const left = LABELS_PX[shape.name];
  const bottom = HEAD_PX + rows.length * rowPx;
  const x = logScale(range, [left, shape.widthPx - RIGHT_PX], base);
  const across = (at: number, colour: string): string =>
    line(
      [
        { x: x.at(at), y: HEAD_PX },
        { x: x.at(at), y: bottom },
      ],
      { colour, widthPx: 1 },
    );
  const named = x.ticks.filter((tick, at) => at === 0 || x.at(tick) - x.at(x.ticks[at - 1]!) >= TICK_PX || tick === 1);
  const content = [
    ...x.ticks.map((tick) => across(tick, FAINT)),
    ...named.map((tick) => text(ratioLabel(tick), { x: x.at(tick), y: bottom + 17 }, { anchor: 'middle' })),
    ...rows.map((row, at) => {
      const middle = HEAD_PX + (at + 0.5) * rowPx;
      return nameText(nameOf(row, shape), left, middle) + barsOf(table, row, columns, { x, middle });
    }),
    across(1, INK),
  ];
  return svg(shape.widthPx, bottom + FOOT_PX, content.join(''));
}

/** Between two labels of the axis. */
const TICK_PX = 34;
const CHAR_PX = 6.4;
const LINE_PX = 15;

/** In lines that end before the axis, around the middle of the row. */
function nameText(name: string, rightPx: number, middle: number): string {
  const lines = name.split('\n').flatMap((part) => wrapped(part, Math.floor((rightPx - 14) / CHAR_PX)));
  const first = middle + 4 - ((lines.length - 1) * LINE_PX) / 2;
  return lines.map((one, at) => text(one, { x: rightPx - 8, y: first + at * LINE_PX }, { anchor: 'end' })).join('');
}

function wrapped(words: string, charsMax: number): string[] {
  const lines = [''];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1)!} ${word}`.trim();
    if (longer.length <= charsMax) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter((one) => one !== '');
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

interface Row {
  readonly x: Scale;
  /** Of the row, from above. */
  readonly middle: number;
}

/** A ratio of 1 has no length: its label stands where the baseline is. */
function barsOf(table: ReportTable, row: ReportRow, columns: readonly ReportColumn[], { x, middle }: Row): string {
  return columns
    .map((column, at) => {
      const ratio = row.ratios[column.id] ?? (hasFailed(row, column.id) ? 1 : undefined);
      if (ratio === undefined) return '';
      const top = middle + (at - columns.length / 2) * BAR_PX + 1;
      const end = { x: x.at(ratio), y: top + BAR_PX - 2 };
      const words = row.ratios[column.id] === undefined ? 'failed' : ratioText(ratio);
      const [place, anchor] = ratio < 1 ? [end.x - 5, 'end' as const] : [end.x + 5, 'start' as const];
      const bar = rect({ x: x.at(1), y: top }, end, paintOf(table, column));
      return bar + text(words, { x: place, y: end.y - 1 }, { anchor, hasHalo: true });
    })
    .join('');
}

function paintOf(table: ReportTable, column: ReportColumn): string {
  const fill = `fill="var(--${colourName(table, column)})"`;
  return column.era === 'model' ? `${fill} opacity="0.4" stroke="${INK}" stroke-dasharray="4 3"` : fill;
}

function rangeOf(ratios: readonly number[], room: number): { range: readonly [number, number]; base: 2 | 10 } {
  const positive = ratios.filter((ratio) => ratio > 0);
  const [low, high] = [Math.min(1, ...positive), Math.max(1, ...positive)];
  const free = Math.max(high / low, 2) ** room;
  return { range: [low < 1 ? low / free : 1, high * free], base: high / low > BINARY_RANGE_MAX ? 10 : 2 };
}

function ratioLabel(value: number): string {
  return ratioText(value).replace(/\.0+$/, '');
}
