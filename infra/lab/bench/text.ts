// The benchmark's results as tables for the terminal.
import { PROVIDER_SHORT_NAMES } from '../../../shared/lab/report/names.ts';
import type { MeasuredLoad } from '../../../shared/lab/cloud/data/processor.ts';
import type { ColdStart } from './cold-starts.ts';
import type { Compared, ContestResult } from './contest/contest.ts';
import { COLD_START_GOALS_MS, STORED_GOAL } from './contest/goals.ts';
import type { StoredBytes } from './stored.ts';

/** A measurement that is compared with nothing. */
export interface Statement {
  readonly what: string;
  readonly value: string;
}

/** Records a second: the ratio is to be at least its goal. */
export function ratesText(results: readonly ContestResult[]): string {
  const head = ['records/s', 'in flight', 'rtt ms', 'plain SDK', 'Stowage', 'ratio', 'rounds', 'goal', ''];
  const rows = results.map((result) => {
    const { rate } = result;
    const isShort = rate.goal !== undefined && rate.ratio < rate.goal;
    return [...contestCells(result), whole(rate.theirs), whole(rate.ours), ...ratioCells(rate, isShort)];
  });
  return aligned([head, ...rows]);
}

/** Processor time a record: the ratio is to be at most its goal. */
export function processorText(results: readonly ContestResult[]): string {
  const parts = ['engine', 'driver', 'other'];
  const ratio = ['ratio', 'rounds', 'goal', ''];
  const head = ['processor, µs a record', 'in flight', 'rtt ms', 'plain SDK', 'Stowage', ...parts, ...ratio];
  const rows = results.map((result) => {
    const { processor, parts: each } = result;
    const isShort = processor.goal !== undefined && processor.ratio > processor.goal;
    const times = [processor.theirs, processor.ours, each.engine, each.driver, each.other];
    return [...contestCells(result), ...times.map(tenths), ...ratioCells(processor, isShort)];
  });
  return aligned([head, ...rows]);
}

export function storedText(stored: readonly StoredBytes[]): string {
  const head = ['stored bytes a record', 'plain SDK', 'Stowage', 'ratio', 'goal', ''];
  const rows = stored.flatMap(({ provider, ours, theirs, theirsUnindexed }) => {
    const row = (what: string, plain: number, goal?: number): string[] => [
      `${PROVIDER_SHORT_NAMES[provider]}${what}`,
      whole(plain),
      whole(ours),
      short(plain / ours),
      goal === undefined ? '' : String(goal),
      goal !== undefined && plain / ours < goal ? 'SHORT' : '',
    ];
    if (theirs === theirsUnindexed) return [row('', theirs, STORED_GOAL)];
    return [row(', fields indexed as by default', theirs, STORED_GOAL), row(', no field indexed', theirsUnindexed)];
  });
  return aligned([head, ...rows]);
}

export function coldStartsText(coldStarts: readonly ColdStart[]): string {
  const head = [
    'cold function, ms',
    'bundle',
    'empty',
    'health',
    'over it',
    'empty',
    'first record',
    'over it',
    'goal',
    '',
  ];
  const rows = coldStarts.map(({ cloud, bundleBytes, own, empty }) => {
    const overMs = own.recordMs - empty.recordMs;
    const health = [empty.healthMs, own.healthMs, own.healthMs - empty.healthMs];
    const record = [empty.recordMs, own.recordMs, overMs];
    const goalMs = COLD_START_GOALS_MS[cloud];
    const bundle = `${whole(bundleBytes / 1_024)} KiB`;
    return [cloud, bundle, ...[...health, ...record].map(whole), String(goalMs), overMs > goalMs ? 'SHORT' : ''];
  });
  return aligned([head, ...rows]);
}

function contestCells({ name, provider, inFlight, rttMs }: ContestResult): string[] {
  return [`${PROVIDER_SHORT_NAMES[provider]} ${name}`, String(inFlight), String(rttMs)];
}

function ratioCells({ ratio, spread, goal }: Compared, isShort: boolean): string[] {
  const rounds = `${short(spread[0])} to ${short(spread[1])}`;
  return [short(ratio), rounds, goal === undefined ? '' : String(goal), isShort ? 'SHORT' : ''];
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

function tenths(value: number): string {
  return value >= 100 ? whole(value) : value.toFixed(1);
}

function short(ratio: number): string {
  if (ratio >= 10) return ratio.toFixed(0);
  return ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2);
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
