// The parts of a run together, as if one instance had done it all.
import type { CellResult } from '../load/cell.ts';
import { mergeHistograms } from '../kit/histogram.ts';
import { sumOfStoreCounters } from '../load/store-counters.ts';
import { sumOfCounts, type Usage } from '../kit/usage.ts';

export type Merged = ReturnType<typeof mergeParts>;

/** At least one part; all of one run. Rates are each instance's own over its own window. */
export function mergeParts(parts: readonly CellResult[]) {
  return {
    recordsPerSecond: sum(parts.map(rateOf)),
    records: sum(parts.map(({ records }) => records)),
    recordsTotal: sum(parts.map(({ recordsTotal }) => recordsTotal)),
    recordsPerCall: parts[0]!.recordsPerCall,
    histogram: mergeHistograms(parts.map(({ histogram }) => histogram)),
    errors: sumOfCounts(parts.map(({ errors }) => errors)),
    unfinished: sum(parts.map(({ unfinished }) => unfinished)),
    usage: mergeUsage(parts.map(({ usage }) => usage)),
    store: parts[0]!.store && sumOfStoreCounters(parts.flatMap(({ store }) => store ?? [])),
  };
}

export function rateOf({ records, durationMs }: Pick<CellResult, 'records' | 'durationMs'>): number {
  return records / (durationMs / 1_000);
}

function mergeUsage(all: readonly Usage[]): Usage {
  const retries = all.map((usage) => usage.retries);
  const each = (of: (usage: Usage) => number): number => sum(all.map(of));
  return {
    requests: each(({ requests }) => requests),
    retries: retries.every((counts) => counts !== null) ? sumOfCounts(retries) : null,
    conflicts: each(({ conflicts }) => conflicts),
    billable: {
      reads: each(({ billable }) => billable.reads),
      writes: each(({ billable }) => billable.writes),
      deletes: each(({ billable }) => billable.deletes),
    },
    bytesWritten: each(({ bytesWritten }) => bytesWritten),
    bytesRead: each(({ bytesRead }) => bytesRead),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
