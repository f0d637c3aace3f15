// The picture of the first screen: a row for each provider and workload, a symbol for each layout.
// Colours are the page's CSS variables.
import { factor, whole, whyUndecided } from '../kit/format.ts';
import { escape } from '../kit/html.ts';
import { isOneRun, type Pair } from './lead.ts';
import { colourOf, PROVIDER_SHORT_NAMES, SYMBOL_CHARACTERS } from './names.ts';

const INK = 'var(--ink)';
const FAINT = 'var(--line)';
/** Keeps a number readable where a line passes behind it. */
const HALO = 'stroke="var(--paper)" stroke-width="3" paint-order="stroke"';
/** From the middle of a line of text down to its base line. */
const BASE_PX = 4;

const PAIR_PX = 17;
const GAP_PX = 7;
const FOOT_PX = 24;
const SIZE_PX = 50;
const NUMBER_PX = 60;

/** `wide` fits a tablet and paper, `narrow` a phone of 390: text keeps its size in both. */
export const SHAPES = [
  { name: 'wide', widthPx: 720, namesPx: 140 },
  { name: 'narrow', widthPx: 340, namesPx: 126 },
] as const;

/** At the line of 1 both are as fast. */
export function ratioPicture(pairs: readonly Pair[], { widthPx, namesPx }: (typeof SHAPES)[number]): string {
  const left = namesPx + (hasSizes(pairs) ? SIZE_PX : 0);
  const rows = [...Map.groupBy(pairs, (pair) => nameOf(pair, hasSizes(pairs)))];
  const shown = pairs.map(({ ratio }) => ratio).filter(({ low }) => low > 0);
  const range = [
    Math.min(0.8, ...shown.map(({ low }) => low)),
    Math.max(1.25, ...shown.map(({ high }) => high)),
  ] as const;
  const x = logScale(range, [left, widthPx - NUMBER_PX], range[1] / range[0] > 40 ? 10 : 2);
  let top = GAP_PX;
  const drawn = rows.map(([name, own]) => {
    const middle = top + (own.length * PAIR_PX) / 2;
    const marks = own.map((pair, at) => pairMark(pair, x.at, top + (at + 0.5) * PAIR_PX));
    top += own.length * PAIR_PX + GAP_PX;
    return text(name, left - 12, middle + BASE_PX, `fill="${INK}" text-anchor="end"`) + marks.join('');
  });
  const grid = x.ticks.map((tick) => {
    const [colour, widthPx] = tick === 1 ? [INK, 1.5] : [FAINT, 1];
    const at = px(x.at(tick));
    const line = `<path d="M${at} 0V${px(top)}" stroke="${colour}" stroke-width="${widthPx}"/>`;
    return line + text(factor(tick), at, top + 15, `fill="${INK}" text-anchor="middle"`);
  });
  const height = top + FOOT_PX;
  // Fonts without quotes: they are inside a quoted attribute.
  return `<svg width="${widthPx}" height="${height}" viewBox="0 0 ${widthPx} ${height}" xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="12">${[...grid, ...drawn].join('')}</svg>`;
}

function hasSizes(pairs: readonly Pair[]): boolean {
  return new Set(pairs.map(({ recordBytes }) => recordBytes)).size > 1;
}

function nameOf({ provider, workload, recordBytes }: Pair, isSized: boolean): string {
  return `${PROVIDER_SHORT_NAMES[provider]} ${workload}${isSized ? `, ${whole(recordBytes)} B` : ''}`;
}

/** The interval as a bar, the ratio as a symbol and a number; faint where it is not told apart. */
function pairMark({ provider, other, ratio }: Pair, at: (value: number) => number, y: number): string {
  if (ratio.low <= 0) return '';
  const colour = colourOf(provider, other);
  const [low, middle, high] = [at(ratio.low), at(ratio.ratio), at(ratio.high)];
  const isTold = whyUndecided(ratio) === undefined;
  const number = `${factor(ratio.ratio)}${isTold || isOneRun(ratio) ? '' : ' ?'}`;
  const mark = [
    `<path d="M${px(low)} ${px(y)}H${px(high)}" stroke="${colour}" stroke-width="3"/>`,
    text(SYMBOL_CHARACTERS[other], middle, y + BASE_PX, `fill="${colour}" text-anchor="middle"`),
    text(number, high + 8, y + BASE_PX, `fill="${INK}" ${HALO}`),
  ].join('');
  return isTold ? mark : `<g opacity="0.55">${mark}</g>`;
}

function text(content: string, x: number, y: number, attributes: string): string {
  return `<text x="${px(x)}" y="${px(y)}" ${attributes}>${escape(content)}</text>`;
}

/** A tenth of a pixel is as much as anybody sees. */
function px(length: number): number {
  return Math.round(length * 10) / 10;
}

type Range = readonly [from: number, to: number];

const ROUNDING = 1e-9;

/** `at`: a value's place in CSS pixels. Ticks are the powers of the base within the range. */
function logScale([min, max]: Range, [fromPx, toPx]: Range, base: 2 | 10) {
  const powerOf = (value: number): number => Math.log(value) / Math.log(base);
  const first = Math.ceil(powerOf(min) - ROUNDING);
  const count = Math.floor(powerOf(max) + ROUNDING) - first + 1;
  return {
    at: (value: number) => fromPx + (Math.log(value / min) / Math.log(max / min)) * (toPx - fromPx),
    ticks: Array.from({ length: count }, (_, at) => base ** (first + at)),
  };
}

export function ratioWords(pairs: readonly Pair[]): string {
  const words = pairs.map((pair) => {
    const why = whyUndecided(pair.ratio);
    return `${nameOf(pair, hasSizes(pairs))}, container to ${pair.other}: ${factor(pair.ratio.ratio)}${why === undefined ? '' : `, ${why}`}`;
  });
  return words.join('; ');
}
