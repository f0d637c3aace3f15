// From values to places in a chart, and the values that its axes name. Pure.

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

/** `1.2k`, `45k`, `0.037`, `4e-7`: at most five characters. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '';
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(2))}M`;
  if (value >= 1_000) return `${Number((value / 1_000).toPrecision(value >= 100_000 ? 3 : 2))}k`;
  if (value >= 100) return String(Math.round(value));
  if (value > 0 && value < 0.01) return value.toExponential(0);
  return String(Number(value.toPrecision(2)));
}
