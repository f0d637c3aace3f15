// The benchmark's results as tables for the terminal.
import { decimal, factor, intervalText, whole } from '../../../shared/lab/kit/format.ts';
import { textTable } from '../../../shared/lab/kit/text-table.ts';
import { PROVIDER_SHORT_NAMES } from '../../../shared/lab/report/names.ts';
import type { ColdStart } from './cold-starts.ts';
import type { ContestResult } from './contest/contest.ts';
import { COLD_START_GOALS_MS, FAR_RTT_MS, STORED_GOAL } from './contest/goals.ts';
import type { StoredBytes } from './stored.ts';

/** One measure of all contests. Of records a second the ratio is to be at least its goal, of processor time at most. */
export function contestsText(measure: 'rate' | 'processor', results: readonly ContestResult[]): string {
  const what = measure === 'rate' ? 'records/s' : 'processor, µs a record';
  const rows = results.map((result) => {
    const { ours, theirs, ratio, goal, ...spread } = result[measure];
    const isShort = goal !== undefined && (measure === 'rate' ? ratio < goal : ratio > goal);
    return [
      `${PROVIDER_SHORT_NAMES[result.provider]} ${result.name}`,
      String(result.inFlight),
      String(result.isFar ? FAR_RTT_MS : 0),
      ...[theirs, ours].map(decimal),
      factor(ratio),
      intervalText(spread, factor),
      ...goalCells(goal, isShort),
    ];
  });
  return textTable([what, 'in flight', 'rtt ms', 'plain SDK', 'Stowage', 'ratio', 'rounds', 'goal', ''], rows, 1);
}

export function storedText(stored: readonly StoredBytes[]): string {
  const rows = stored.flatMap(({ provider, ours, theirs, theirsUnindexed }) => {
    const row = (what: string, plain: number, goal?: number): string[] => [
      `${PROVIDER_SHORT_NAMES[provider]}${what}`,
      whole(plain),
      whole(ours),
      factor(plain / ours),
      ...goalCells(goal, goal !== undefined && plain / ours < goal),
    ];
    if (theirs === theirsUnindexed) return [row('', theirs, STORED_GOAL)];
    return [row(', fields indexed as by default', theirs, STORED_GOAL), row(', no field indexed', theirsUnindexed)];
  });
  return textTable(['stored bytes a record', 'plain SDK', 'Stowage', 'ratio', 'goal', ''], rows, 1);
}

export function coldStartsText(coldStarts: readonly ColdStart[]): string {
  const rows = coldStarts.map(({ cloud, bundleBytes, ownMs, emptyMs }) => {
    const [overMs, goalMs] = [ownMs - emptyMs, COLD_START_GOALS_MS[cloud]];
    const bundle = `${whole(bundleBytes / 1_024)} KiB`;
    return [cloud, bundle, ...[emptyMs, ownMs, overMs].map(whole), ...goalCells(goalMs, overMs > goalMs)];
  });
  return textTable(['cold function, ms to a record', 'bundle', 'empty', 'own', 'over it', 'goal', ''], rows, 1);
}

function goalCells(goal: number | undefined, isShort: boolean): string[] {
  return [goal === undefined ? '' : String(goal), isShort ? 'SHORT' : ''];
}
