// What the charts of all reports are drawn with: axes, lines, symbols and labels, as the text of SVG. Colours are the page's CSS variables.
import type { Panel } from './chart-panels.ts';
import { type Scale, short } from './chart-scales.ts';
import { escape } from '../kit/html.ts';
import type { ReportLayout } from './names.ts';

/** Without quotes: it ends up inside a quoted attribute. */
const FONT = 'system-ui, sans-serif';
export const FONT_PX = 12;
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

/** Fill, and what else the element has. */
export function rect(from: Spot, to: Spot, paint: string): string {
  const [x, y] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
  return `<rect x="${px(x)}" y="${px(y)}" width="${px(Math.abs(to.x - from.x))}" height="${px(Math.abs(to.y - from.y))}" ${paint}/>`;
}

/** Half of a symbol's width. */
const SYMBOL_PX = 4.5;

const SYMBOLS: Readonly<Record<ReportLayout, string>> = {
  record: `m-${SYMBOL_PX} 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 9 0a${SYMBOL_PX} ${SYMBOL_PX} 0 1 0 -9 0`,
  conditional: 'm0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z',
  batch: 'm-4 -4h8v8h-8z',
  driver: 'm0 5l5 -9h-10z',
  container: 'm0 -5l5 9h-10z',
  'container-batch': 'm0 -6l1.5 4h4l-3.2 2.5l1.2 4l-3.5 -2.4l-3.5 2.4l1.2 -4l-3.2 -2.5h4z',
};

/** Layouts differ by more than colour. */
export function symbol(layout: ReportLayout, { x, y }: Spot, colour: string): string {
  return `<path d="M${px(x)} ${px(y)}${SYMBOLS[layout]}" fill="var(--paper)" stroke="${colour}" stroke-width="2"/>`;
}

export interface Axes {
  readonly title: string;
  readonly x: Scale & { readonly name: string; readonly text?: (tick: number) => string; readonly isPlain?: boolean };
  readonly y: Scale;
}

const LABEL_GAP_PX = 34;

/** Grid, labels and names of a panel; `isPlain` leaves out the lines of the ticks of x. */
export function axes({ left, top, width, height }: Panel, { title, x, y }: Axes): string {
  const [right, bottom] = [left + width, top + height];
  const faint = { colour: FAINT, widthPx: 1 };
  const xText = x.text ?? short;
  let lastPx = -Infinity;
  const named = x.ticks.filter((tick) => {
    const isFree = x.at(tick) - lastPx >= LABEL_GAP_PX;
    if (isFree) lastPx = x.at(tick);
    return isFree;
  });
  const rows = y.ticks.map((tick) => ({ tick, at: y.at(tick) }));
  return [
    text(title, { x: left - 5, y: top - 16 }, { isTitle: true }),
    ...rows.map(({ at }) =>
      line(
        [
          { x: left, y: at },
          { x: right, y: at },
        ],
        faint,
      ),
    ),
    ...rows.map(({ tick, at }) => text(short(tick), { x: left - 8, y: at + 4 }, { anchor: 'end' })),
    ...(x.isPlain === true ? [] : x.ticks).map((tick) =>
      line(
        [
          { x: x.at(tick), y: top },
          { x: x.at(tick), y: bottom },
        ],
        faint,
      ),
    ),
    ...named.map((tick) => text(xText(tick), { x: x.at(tick), y: bottom + 17 }, { anchor: 'middle' })),
    text(x.name, { x: left + width / 2, y: bottom + 37 }, { anchor: 'middle' }),
  ].join('');
}

interface Label {
  readonly text: string;
  readonly spot: Spot;
  readonly position: 'above' | 'below';
}

const CHAR_PX = 7;
const ABOVE_PX = -8;
const BELOW_PX = 17;

/** Figures beside their points: one that would cover a point, or a figure before it, is left out. */
export function labels(wanted: readonly Label[]): string {
  const placed = wanted.map(({ spot }) => ({ x: spot.x, y: spot.y + SYMBOL_PX, halfPx: SYMBOL_PX }));
  return wanted
    .flatMap(({ text: content, spot, position }) => {
      const own = {
        x: spot.x,
        y: spot.y + (position === 'above' ? ABOVE_PX : BELOW_PX),
        halfPx: (content.length * CHAR_PX) / 2,
      };
      const isTaken = placed.some(
        ({ x, y, halfPx }) => Math.abs(x - own.x) < halfPx + own.halfPx && Math.abs(y - own.y) < FONT_PX,
      );
      if (content === '' || isTaken) return [];
      placed.push(own);
      return text(content, own, { anchor: 'middle', hasHalo: true });
    })
    .join('');
}

/** A tenth of a pixel is as much as anybody sees. */
function px(length: number): number {
  return Math.round(length * 10) / 10;
}
