// The parts of a run together, as if one instance had done it all.
import type { CellResult } from '../load/cell.ts';
import { mergeHistograms } from '../kit/histogram.ts';
import { sum } from '../kit/numbers.ts';
import { retriesOf, sumOf, sumOfCounts, type Usage } from '../kit/provider-usage.ts';

export type Merged = ReturnType<typeof mergeParts>;

/** At least one part; all of one run. Rates are each instance's own over its own window. */
export function mergeParts(parts: readonly CellResult[]) {
  return {
    recordsPerSecond: sum(parts.map(rateOf)),
    records: sum(parts.map(({ records }) => records)),
    recordsFirstHalf: sum(parts.map(({ recordsFirstHalf }) => recordsFirstHalf)),
    recordsTotal: sum(parts.map(({ recordsTotal }) => recordsTotal)),
    recordsPerCall: parts[0]!.recordsPerCall,
    histogram: mergeHistograms(parts.map(({ histogram }) => histogram)),
    errors: sumOfCounts(parts.map(({ errors }) => errors)),
    unfinished: sum(parts.map(({ unfinished }) => unfinished)),
    usage: mergeUsage(parts.map(({ usage }) => usage)),
    store: parts[0]!.store && sumOf(parts.flatMap(({ store }) => store ?? [])),
  };
}

export function rateOf({ records, durationMs }: Pick<CellResult, 'records' | 'durationMs'>): number {
  return records / (durationMs / 1_000);
}

function mergeUsage(all: readonly Usage[]): Usage {
  const counted = all.map((usage) => ({ ...usage, retries: 0 }));
  return { ...sumOf(counted), retries: retriesOf(all) };
}
