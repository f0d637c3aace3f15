// The highest rate of an open loop that holds a latency. The rate that held is tried once more, as
// the best of several tries owes something to luck.
import type { Merged, SearchRun, SearchTry } from './outcome.ts';
import type { Search } from './plan.ts';
import { operationsNeeded, percentileOf } from '../kit/histogram.ts';
import { said } from '../kit/figure-format.ts';

/** The largest factor at the end between the highest rate that held and the lowest that did not. */
const GAP = 1.1;

/**
 * A rate is held where at least so much of it was answered, less three standard deviations of how
 * many calls come by chance, and nothing failed.
 */
const REACHED = 0.95;

const TRY_MOST_MS = 60_000;

/** `confirmed`: the run that counts, of the highest rate that held twice. Rejects as `tryRate`. */
export async function searchRate(
  { fromPerSecond, toPerSecond, triesMax }: Pick<Search, 'fromPerSecond' | 'toPerSecond' | 'triesMax'>,
  tryRate: (ratePerSecond: number) => Promise<SearchTry>,
): Promise<Pick<SearchRun, 'confirmed' | 'tries'>> {
  const tries: SearchTry[] = [];
  let held = 0;
  let broken = Infinity;
  for (let rate = fromPerSecond; tries.length < triesMax; rate = nextRate(held, broken, toPerSecond)) {
    const one = await tryRate(rate);
    tries.push(one);
    if (one.isHeld) held = rate;
    else broken = rate;
    if (held === 0 || held >= toPerSecond || broken / held <= GAP) break;
  }
  const heldRates = tries.flatMap(({ isHeld, ratePerSecond }) => (isHeld ? [ratePerSecond] : []));
  for (const rate of heldRates.toSorted((one, other) => other - one)) {
    const confirmed = await tryRate(rate);
    if (confirmed.isHeld) return { confirmed, tries };
    tries.push(confirmed);
  }
  return { confirmed: null, tries };
}

/** The geometric middle of the gap. */
function nextRate(held: number, broken: number, toPerSecond: number): number {
  return broken === Infinity ? Math.min(2 * held, toPerSecond) : Math.sqrt(held * broken);
}

export function tryMsOf({ percentile }: Pick<Search, 'percentile'>, ratePerSecond: number, durationMs: number): number {
  // Half as many again: at the edge of its capacity a store answers fewer than are due.
  const neededMs = Math.ceil((1.5 * operationsNeeded(percentile) * 1_000) / ratePerSecond);
  return Math.min(TRY_MOST_MS, Math.max(durationMs, neededMs));
}

export function judged({ percentile, latencyMsMax }: Search, ratePerSecond: number, run: Merged): SearchTry {
  const achievedPerSecond = run.recordsPerSecond / run.recordsPerCall;
  const latencyMs = percentileOf(run.histogram, percentile);
  const leastPerSecond = ratePerSecond * (REACHED - 3 / Math.sqrt(Math.max(1, run.histogram.totalCount)));
  const failed = Object.entries(run.errors).map(([code, count]) => `${count} ${code}`);
  const whys = said(
    failed.length > 0 && `failed: ${failed.join(', ')}`,
    achievedPerSecond < leastPerSecond && `${achievedPerSecond.toFixed(1)} a second were answered`,
    latencyMs === null && `${run.histogram.totalCount} operations are too few for p${percentile}`,
    latencyMs !== null && latencyMs > latencyMsMax && `p${percentile} was ${latencyMs.toFixed(1)} ms`,
  );
  return { ratePerSecond, achievedPerSecond, latencyMs, isHeld: whys.length === 0, why: whys.join('; ') };
}
