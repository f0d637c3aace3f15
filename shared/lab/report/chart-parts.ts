// Parts of all pictures, as the text of SVG. Colours are the page's CSS variables.
import { escape } from '../kit/html.ts';
import type { Layout } from '../kit/dimensions.ts';

/** Without quotes: it ends up inside a quoted attribute. */
const FONT = 'system-ui, sans-serif';
const FONT_PX = 12;
export const INK = 'var(--ink)';
export const FAINT = 'var(--line)';

export interface Spot {
  readonly x: number;
  readonly y: number;
}

export function svg(width: number, height: number, content: string): string {
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" xmlns="http://www.w3.org/2000/svg" font-family="${FONT}" font-size="${FONT_PX}">${content}</svg>`;
}

interface TextStyle {
  /** The text's point at the place. Default its beginning. */
  readonly anchor?: 'start' | 'middle' | 'end';
  /** Keeps it readable where a line passes behind it. */
  readonly hasHalo?: boolean;
}

/** `y` is the text's base line. */
export function text(content: string, { x, y }: Spot, { anchor = 'start', hasHalo }: TextStyle = {}): string {
  const halo = hasHalo === true ? ' stroke="var(--paper)" stroke-width="3" paint-order="stroke"' : '';
  return `<text x="${px(x)}" y="${px(y)}" fill="${INK}" text-anchor="${anchor}"${halo}>${escape(content)}</text>`;
}

interface Stroke {
  readonly colour: string;
  readonly widthPx: number;
}

export function line(spots: readonly Spot[], { colour, widthPx }: Stroke): string {
  const d = spots.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${px(x)} ${px(y)}`).join('');
  return `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${widthPx}" stroke-linejoin="round"/>`;
}

const SYMBOL_PX = 4.5;

const SYMBOLS: Readonly<Record<Layout, string>> = {
  record: `m-${SYMBOL_PX} 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 9 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 -9 0`,
  batch: 'm-4 -4h8v8h-8z',
  driver: 'm0 5l5 -9h-10z',
  container: 'm0 -5l5 9h-10z',
  'container-batch': 'm0 -6l1.5 4h4l-3.2 2.5l1.2 4l-3.5 -2.4l-3.5 2.4l1.2 -4l-3.2 -2.5h4z',
};

export function symbol(layout: Layout, { x, y }: Spot, colour: string): string {
  return `<path d="M${px(x)} ${px(y)}${SYMBOLS[layout]}" fill="var(--paper)" stroke="${colour}" stroke-width="2"/>`;
}

/** A tenth of a pixel is as much as anybody sees. */
function px(length: number): number {
  return Math.round(length * 10) / 10;
}

type Range = readonly [from: number, to: number];

/** `at`: a value's place in CSS pixels. Ticks are the powers of the base within the range. */
export function logScale([min, max]: Range, [fromPx, toPx]: Range, base: 2 | 10) {
  const powerOf = (value: number): number => Math.log(value) / Math.log(base);
  const first = Math.ceil(powerOf(min) - ROUNDING);
  const count = Math.floor(powerOf(max) + ROUNDING) - first + 1;
  return {
    at: (value: number) => fromPx + (Math.log(value / min) / Math.log(max / min)) * (toPx - fromPx),
    ticks: Array.from({ length: count }, (_, at) => base ** (first + at)),
  };
}

const ROUNDING = 1e-9;

export interface Shape {
  readonly name: 'wide' | 'narrow';
  readonly widthPx: number;
}

/** `wide` fits a tablet and paper, `narrow` a phone of 390: text keeps its size in both. */
export const SHAPES: readonly Shape[] = [
  { name: 'wide', widthPx: 720 },
  { name: 'narrow', widthPx: 340 },
];
