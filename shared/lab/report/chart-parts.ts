// What the charts of all reports are drawn with: axes, lines, symbols and labels, as the text of SVG. Colours are the page's CSS variables.
import { short } from '../kit/format.ts';
import { escape } from '../kit/html.ts';
import type { Layout } from '../kit/dimensions.ts';

/** Without quotes: it ends up inside a quoted attribute. */
const FONT = 'system-ui, sans-serif';
const FONT_PX = 12;
export const INK = 'var(--ink)';
export const FAINT = 'var(--line)';

/** In CSS pixels from the upper left. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** The chart as an SVG element. */
export function svg(width: number, height: number, content: string): string {
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" xmlns="http://www.w3.org/2000/svg" font-family="${FONT}" font-size="${FONT_PX}">${content}</svg>`;
}

interface TextStyle {
  /** Which of its points the text has at the place. Default its beginning. */
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly isTitle?: boolean;
  /** Keeps it readable where a line passes behind it. */
  readonly hasHalo?: boolean;
}

/** `y` is the text's base line. */
export function text(content: string, { x, y }: Spot, { anchor = 'start', isTitle, hasHalo }: TextStyle = {}): string {
  const title = isTitle === true ? ` font-size="${FONT_PX + 1}" font-weight="600"` : '';
  const halo = hasHalo === true ? ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"' : '';
  return `<text x="${px(x)}" y="${px(y)}" fill="${INK}" text-anchor="${anchor}"${title}${halo}>${escape(content)}</text>`;
}

export interface Stroke {
  readonly colour: string;
  readonly widthPx: number;
  readonly dash?: 'solid' | 'dashed' | 'dotted';
  readonly opacity?: number;
}

const DASHES = { solid: '', dashed: ' stroke-dasharray="8 4"', dotted: ' stroke-dasharray="2 3"' } as const;

/** Joins the spots in order; undefined is a gap. */
export function line(spots: readonly (Spot | undefined)[], stroke: Stroke): string {
  const { colour, widthPx, dash = 'solid', opacity } = stroke;
  const d = spots
    .flatMap((spot, at) =>
      spot === undefined ? [] : `${spots[at - 1] === undefined ? 'M' : 'L'}${px(spot.x)} ${px(spot.y)}`,
    )
    .join('');
  const faint = opacity === undefined ? '' : ` opacity="${opacity}"`;
  return `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${widthPx}" stroke-linejoin="round"${DASHES[dash]}${faint}/>`;
}

/** From top to bottom. */
export function vertical(x: number, ends: readonly [number, number], stroke: Stroke): string {
  return line(
    ends.map((y) => ({ x, y })),
    stroke,
  );
}

/** Fill, and what else the element has. */
export function rect(from: Spot, to: Spot, paint: string): string {
  const [x, y] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
  return `<rect x="${px(x)}" y="${px(y)}" width="${px(Math.abs(to.x - from.x))}" height="${px(Math.abs(to.y - from.y))}" ${paint}/>`;
}

/** Half of a symbol's width. */
const SYMBOL_PX = 4.5;

const SYMBOLS: Readonly<Record<Layout, string>> = {
  record: `m-${SYMBOL_PX} 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 9 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 -9 0`,
  batch: 'm-4 -4h8v8h-8z',
  driver: 'm0 5l5 -9h-10z',
  container: 'm0 -5l5 9h-10z',
  'container-batch': 'm0 -6l1.5 4h4l-3.2 2.5l1.2 4l-3.5 -2.4l-3.5 2.4l1.2 -4l-3.2 -2.5h4z',
};

/** Layouts differ by more than colour. */
export function symbol(layout: Layout, { x, y }: Spot, colour: string): string {
  return `<path d="M${px(x)} ${px(y)}${SYMBOLS[layout]}" fill="var(--paper)" stroke="${colour}" stroke-width="2"/>`;
}

export interface Axes {
  readonly title: string;
  readonly x: Scale & { readonly name: string; readonly isPlain?: boolean };
  readonly y: Scale;
}

const LABEL_GAP_PX = 34;

/** Grid, labels and names of a panel; `isPlain` leaves out the lines of the ticks of x. */
export function axes({ left, top, width, height }: Panel, { title, x, y }: Axes): string {
  const [right, bottom] = [left + width, top + height];
  const faint = { colour: FAINT, widthPx: 1 };
  let lastPx = -Infinity;
  const named = x.ticks.filter((tick) => {
    const isFree = x.at(tick) - lastPx >= LABEL_GAP_PX;
    if (isFree) lastPx = x.at(tick);
    return isFree;
  });
  const across = x.isPlain === true ? [] : x.ticks;
  return [
    text(title, { x: left - 5, y: top - 16 }, { isTitle: true }),
    ...y.ticks.map((tick) =>
      line(
        [left, right].map((at) => ({ x: at, y: y.at(tick) })),
        faint,
      ),
    ),
    ...y.ticks.map((tick) => text(short(tick), { x: left - 8, y: y.at(tick) + 4 }, { anchor: 'end' })),
    ...across.map((tick) => vertical(x.at(tick), [top, bottom], faint)),
    ...named.map((tick) => text(short(tick), { x: x.at(tick), y: bottom + 17 }, { anchor: 'middle' })),
    text(x.name, { x: left + width / 2, y: bottom + 37 }, { anchor: 'middle' }),
  ].join('');
}

interface Label {
  readonly text: string;
  readonly spot: Spot;
}

const CHAR_PX = 7;
/** Of the base line: above the point, or else below it. */
const OFFSETS_PX = [-8, 17];

/** Figures beside their points: one that would cover a point, or a figure before it, on either side is left out. */
export function labels(wanted: readonly Label[]): string {
  const placed = wanted.map(({ spot }) => ({ x: spot.x, y: spot.y + SYMBOL_PX, halfPx: SYMBOL_PX }));
  return wanted
    .flatMap(({ text: content, spot }) => {
      const halfPx = (content.length * CHAR_PX) / 2;
      const free = OFFSETS_PX.map((offset) => ({ x: spot.x, y: spot.y + offset, halfPx })).find(
        (own) =>
          !placed.some((one) => Math.abs(one.x - own.x) < one.halfPx + halfPx && Math.abs(one.y - own.y) < FONT_PX),
      );
      if (content === '' || free === undefined) return [];
      placed.push(free);
      return text(content, free, { anchor: 'middle', hasHalo: true });
    })
    .join('');
}

/** A tenth of a pixel is as much as anybody sees. */
function px(length: number): number {
  return Math.round(length * 10) / 10;
}

/** Of one axis: where a value lies, in CSS pixels, and where its ticks are. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

type Range = readonly [from: number, to: number];

/** Ticks are the powers of the base within the range. */
export function logScale([min, max]: Range, [fromPx, toPx]: Range, base: 2 | 10): Scale {
  const first = Math.ceil(powerOf(min, base) - ROUNDING);
  const count = Math.floor(powerOf(max, base) + ROUNDING) - first + 1;
  return {
    at: (value) => fromPx + (Math.log(value / min) / Math.log(max / min)) * (toPx - fromPx),
    ticks: Array.from({ length: count }, (_, at) => base ** (first + at)),
  };
}

const ROUNDING = 1e-9;

function powerOf(value: number, base: 2 | 10): number {
  return base === 2 ? Math.log2(value) : Math.log10(value);
}

/** Ticks are some six round numbers within the range. */
export function linearScale([min, max]: Range, [fromPx, toPx]: Range): Scale {
  const rough = (max - min) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough)!;
  const first = Math.ceil(min / step);
  return {
    at: (value) => fromPx + ((value - min) / (max - min)) * (toPx - fromPx),
    ticks: Array.from({ length: Math.floor(max / step) - first + 1 }, (_, at) => (first + at) * step),
  };
}

/** The powers of ten around the values, with room above for a label. */
export function decades(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive) * 1.3));
  return [low, high];
}

/** What a chart is drawn for. */
export interface Shape {
  readonly name: 'wide' | 'narrow';
  readonly widthPx: number;
}

/** `wide` fits a tablet and paper at its own size, `narrow` a phone of 390: text keeps its size in both. */
export const SHAPES: readonly Shape[] = [
  { name: 'wide', widthPx: 720 },
  { name: 'narrow', widthPx: 340 },
];

export interface PanelSizes {
  /** Above the panel, for its title. */
  readonly headPx: number;
  readonly heightPx: number;
  /** Below it, for its axis. */
  readonly footPx: number;
  /** To its left, for the labels of its axis. */
  readonly labelsPx: number;
  /** To its right. */
  readonly rightPx: number;
}

export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Panels in order, and the height of all of them. */
export function panelsOf(count: number, shape: Shape, sizes: PanelSizes): { panels: Panel[]; heightPx: number } {
  const { headPx, heightPx, footPx, labelsPx, rightPx } = sizes;
  const rowPx = headPx + heightPx + footPx;
  const isStacked = shape.name === 'narrow';
  const columnPx = shape.widthPx / (isStacked ? 1 : count);
  const panels = Array.from({ length: count }, (_, at): Panel => ({
    left: (isStacked ? 0 : at * columnPx) + labelsPx,
    top: (isStacked ? at * rowPx : 0) + headPx,
    width: columnPx - labelsPx - rightPx,
    height: heightPx,
  }));
  return { panels, heightPx: isStacked ? count * rowPx : rowPx };
}
