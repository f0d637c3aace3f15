// The comparison in a few ratios: each layout at its best concurrency against the others at theirs.
import { OLD_WORKLOADS } from '../cell/old-cell.ts';
import { type Layout, PROVIDERS } from '../dimensions.ts';
import type { ReportCell, SummaryRow } from './old-schema.ts';

/** A row for each provider and workload that has cells. A ratio is null where one side has none. */
export function summaryOf(cells: readonly ReportCell[]): SummaryRow[] {
  const rows: SummaryRow[] = [];
  for (const provider of PROVIDERS) {
    for (const workload of OLD_WORKLOADS) {
      const some = cells.filter((cell) => cell.provider === provider && cell.workload === workload);
      if (some.length === 0) continue;
      const best = {
        record: bestOf(some, 'record'),
        batch: bestOf(some, 'batch'),
        container: bestOf(some, 'container'),
      };
      rows.push({
        provider,
        workload,
        best,
        containerToBatch: ratio(best.container, best.batch),
        containerToRecord: ratio(best.container, best.record),
      });
    }
  }
  return rows;
}

type Best = SummaryRow['best'][Layout];

/**
 * The layout at its best concurrency. Where some were repeated only those with all repetitions count: a concurrency is repeated for as long
 * as its median is the highest, and one or two runs of another may have been lucky.
 */
function bestOf(cells: readonly ReportCell[], layout: Layout): Best {
  const own = cells.filter((cell) => cell.layout === layout);
  const repetitionsMax = Math.max(...own.map((cell) => cell.repetitions.length));
  const candidates = own.filter((cell) => cell.repetitions.length === repetitionsMax);
  const best = candidates.toSorted((one, other) => other.recordsPerSecond - one.recordsPerSecond)[0];
  if (best === undefined) return null;
  const { recordsPerCall, recordsPerSecond, concurrency, repetitions } = best;
  return { recordsPerCall, recordsPerSecond, concurrency, repetitions };
}

/** Whether a ratio compares like with like: calls that hand over equally many records. */
export function sameCallSize(one: Best, other: Best): boolean {
  return one?.recordsPerCall === other?.recordsPerCall;
}

function ratio(numerator: Best, denominator: Best): number | null {
  if (numerator === null || denominator === null || denominator.recordsPerSecond === 0) return null;
  return Math.round((numerator.recordsPerSecond / denominator.recordsPerSecond) * 100) / 100;
}
