// Figures and ratios as short text, the same in the page, its charts and the terminal.
import { type Figure, meanOf } from '../results.ts';

const TIMES = [
  { unit: 'ns', seconds: 1e-9 },
  { unit: 'µs', seconds: 1e-6 },
  { unit: 'ms', seconds: 1e-3 },
  { unit: 's', seconds: 1 },
] as const;

/** Three digits and a unit that suits: `12.3 µs`, `1,234 bytes`, `$0.036`. */
export function valueText(value: number, unit: string): string {
  const given = TIMES.find((one) => one.unit === unit);
  if (given !== undefined) return timeText(value * given.seconds);
  if (unit === 'dollars') return `$${numberText(value)}`;
  return unit === '' ? numberText(value) : `${numberText(value)} ${unit}`;
}

function timeText(seconds: number): string {
  const { unit, seconds: one } = TIMES.findLast((time) => seconds >= time.seconds) ?? TIMES[0];
  return `${numberText(seconds / one)} ${unit}`;
}

function numberText(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** `0.0033`, `1.25`, `12.3`, `1,234`. */
export function ratioText(ratio: number): string {
  if (ratio >= 1_000) return Math.round(ratio).toLocaleString('en-US');
  if (ratio >= 100) return String(Math.round(ratio));
  if (ratio >= 10) return ratio.toFixed(1);
  return ratio >= 0.1 ? ratio.toFixed(2) : String(Number(ratio.toPrecision(2)));
}

/** The mean, and of several runs the lowest and the highest; `failed` or why it is missing. */
export function figureText(figure: Figure | undefined, unit: string): { main: string; spread: string } {
  if (figure === undefined) return { main: '-', spread: '' };
  if ('failed' in figure) return { main: 'failed', spread: '' };
  const mean = meanOf(figure);
  if (mean === undefined || 'missing' in figure) return { main: '-', spread: '' };
  const [low, high] = [Math.min(...figure.runs), Math.max(...figure.runs)];
  const spread = low === high ? '' : rangeText(valueText(low, unit), valueText(high, unit));
  return { main: valueText(mean, unit), spread };
}

/** `128 to 161 µs`: the unit once, where it is the same. */
function rangeText(low: string, high: string): string {
  const [number, unit] = low.split(' ');
  return `${high.split(' ')[1] === unit ? number : low} to ${high}`;
}
