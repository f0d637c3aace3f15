// The benchmark's results as a table for the terminal.
import { PROVIDER_SHORT_NAMES } from '../../../shared/compare/report/names.ts';
import type { MeasuredLoad } from '../../../shared/model/data/processor.ts';
import type { ContestResult } from './contest.ts';

/** A measurement that is compared with nothing. */
export interface Statement {
  readonly what: string;
  readonly value: string;
}

export function contestsText(results: readonly ContestResult[]): string {
  const head = ['', 'in flight', 'rtt ms', 'plain SDK', 'Stowage', 'ratio', 'rounds', 'goal', ''];
  const rows = results.map(({ name, provider, inFlight, rttMs, ours, theirs, unit, ratio, spread, goal }) => [
    `${PROVIDER_SHORT_NAMES[provider]} ${name}`,
    String(inFlight),
    String(rttMs),
    `${whole(theirs)} ${unit}`,
    whole(ours),
    short(ratio),
    `${short(spread[0])} to ${short(spread[1])}`,
    String(goal),
    ratio < goal ? 'SHORT' : '',
  ]);
  return aligned([head, ...rows]);
}

export function statementsText(statements: readonly Statement[]): string {
  return aligned(statements.map(({ what, value }) => [what, value]));
}

/** The loads of a calibration beside what its table makes of them. */
export function loadsText(loads: readonly MeasuredLoad[]): string {
  const head = ['client processor, µs an operation', 'in flight', 'measured', 'rounds', 'by the table', 'of measured'];
  const rows = loads.map(({ load, inFlight, median, lowest, highest, fitted }) => [
    load,
    String(inFlight),
    median.toFixed(0),
    `${lowest.toFixed(0)} to ${highest.toFixed(0)}`,
    fitted.toFixed(0),
    (fitted / median).toFixed(2),
  ]);
  return aligned([head, ...rows]);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function short(ratio: number): string {
  return ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2);
}

/** The first column to the left, the others to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
