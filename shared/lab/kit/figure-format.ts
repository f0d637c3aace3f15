// Figures in words, the same for the page, the terminal and the live page, and tables for
// terminals.
import type { Figure, Ratio } from './figure.ts';

/** `12,345`. */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Three digits or so: `0.12`, `12.3`, `1,234`. */
export function decimal(value: number): string {
  if (value >= 100) return whole(value);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** Prices differ by powers of ten between the clouds: two significant digits. */
export function dollars(value: number): string {
  if (value >= 10) return whole(value);
  if (value === 0) return '0';
  return value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)));
}

/** With cents: `1,234.50`; `< 0.01` for less than half a cent; `1.23e+12` from a billion on. */
export function cents(value: number): string {
  if (value > 0 && value < 0.005) return '< 0.01';
  if (value >= 1e9) return value.toExponential(2);
  return value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** `10 to 12`; one number where both ends read alike; `one run` for a single value. */
export function intervalText(
  { low, high, values }: Pick<Figure, 'low' | 'high'> & Partial<Figure>,
  format: (value: number) => string,
): string {
  if (values?.length === 1) return 'one run';
  const [from, to] = [format(low), format(high)];
  return from === to ? from : `${from} to ${to}`;
}

/** `26 x`, `2.4 x`, `0.32 x`, `0.0067 x`. */
export function factor(ratio: number): string {
  if (ratio >= 10) return `${whole(ratio)} x`;
  if (ratio >= 1) return `${ratio.toFixed(1)} x`;
  return `${ratio >= 0.1 ? ratio.toFixed(2) : Number(ratio.toPrecision(2))} x`;
}

/** Why a ratio says nothing; undefined where it does. */
export function whyUndecided({ verdict, pairs }: Ratio): string | undefined {
  if (verdict === 'undecided') return 'not told apart';
  if (verdict === 'drifting') return 'the rates drifted by as much';
  if (verdict !== 'too-few-runs') return undefined;
  return pairs === 1 ? 'one run' : 'too few runs to tell';
}

/** `0.0123`, `2.58`, `113`, `1,234`. */
export function threeDigits(value: number): string {
  return Math.abs(value) >= 1_000 ? whole(value) : String(Number(value.toPrecision(3)));
}

/** Drops each `false`, so that callers can write `isCold && 'it was cold'`. */
export function said(...lines: readonly (string | false)[]): string[] {
  return lines.filter((line) => line !== false);
}

const COLUMNS_MAX = 110;

/** The first `leftColumns` columns are text, the rest numbers. */
export function textTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  leftColumns: number,
): string {
  const widths = header.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `  ${cells.map((cell, at) => (at < leftColumns ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  ')}`.trimEnd();
  return [line(header), ...rows.map(line)].join('\n');
}

/** In lines of at most 110 columns. */
export function wrapped(text: string): string[] {
  return text.match(new RegExp(`.{1,${COLUMNS_MAX}}(?= |$)`, 'g'))?.map((line) => line.trim()) ?? [];
}
