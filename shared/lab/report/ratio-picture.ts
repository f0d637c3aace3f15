// The picture of the first screen: a row for each provider and workload, a symbol for each layout.
import { factor, whole, whyUndecided } from '../kit/format.ts';
import { FAINT, INK, line, logScale, type Shape, type Spot, svg, symbol, text } from './chart-parts.ts';
import { isOneRun, isTold, type Pair } from './lead.ts';
import { colourOf, PROVIDER_SHORT_NAMES } from './names.ts';

const PAIR_PX = 17;
const GAP_PX = 7;
const FOOT_PX = 24;
const NAMES_PX = { wide: 140, narrow: 126 } as const;
const SIZE_PX = 50;
const NUMBER_PX = 60;

/** At the line of 1 both are as fast. */
export function ratioPicture(pairs: readonly Pair[], shape: Shape): string {
  const left = NAMES_PX[shape.name] + (hasSizes(pairs) ? SIZE_PX : 0);
  const rows = [...Map.groupBy(pairs, (pair) => nameOf(pair, hasSizes(pairs)))];
  const shown = pairs.map(({ ratio }) => ratio).filter(({ low }) => low > 0);
  const range = [
    Math.min(0.8, ...shown.map(({ low }) => low)),
    Math.max(1.25, ...shown.map(({ high }) => high)),
  ] as const;
  const x = logScale(range, [left, shape.widthPx - NUMBER_PX], range[1] / range[0] > 40 ? 10 : 2);
  let top = GAP_PX;
  const drawn = rows.map(([name, own]) => {
    const middle = top + (own.length * PAIR_PX) / 2;
    const marks = own.map((pair, at) => pairMark(pair, x.at, top + (at + 0.5) * PAIR_PX));
    top += own.length * PAIR_PX + GAP_PX;
    return text(name, { x: left - 12, y: middle + 4 }, { anchor: 'end' }) + marks.join('');
  });
  const grid = x.ticks.map((tick) => {
    const [colour, widthPx] = tick === 1 ? [INK, 1.5] : [FAINT, 1];
    const at = x.at(tick);
    const ends = [0, top].map((y) => ({ x: at, y }));
    return line(ends, { colour, widthPx }) + text(factor(tick), { x: at, y: top + 15 }, { anchor: 'middle' });
  });
  return svg(shape.widthPx, top + FOOT_PX, [...grid, ...drawn].join(''));
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
  const [low, middle, high]: Spot[] = [ratio.low, ratio.ratio, ratio.high].map((value) => ({ x: at(value), y }));
  const number = text(
    `${factor(ratio.ratio)}${isTold(ratio) || isOneRun(ratio) ? '' : ' ?'}`,
    { x: high!.x + 8, y: y + 4 },
    { hasHalo: true },
  );
  const mark = line([low!, high!], { colour, widthPx: 3 }) + symbol(other, middle!, colour) + number;
  return isTold(ratio) ? mark : `<g opacity="0.55">${mark}</g>`;
}

export function ratioWords(pairs: readonly Pair[]): string {
  const words = pairs.map((pair) => {
    const why = whyUndecided(pair.ratio);
    return `${nameOf(pair, hasSizes(pairs))}, container to ${pair.other}: ${factor(pair.ratio.ratio)}${why === undefined ? '' : `, ${why}`}`;
  });
  return words.join('; ');
}
