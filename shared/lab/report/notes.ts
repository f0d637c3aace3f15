// Notes for reading the figures, true of this very comparison.
import { operationsNeeded } from '../kit/histogram.ts';
import { MIXES } from '../work/workloads.ts';
import type { Workload } from '../kit/dimensions.ts';
import { CONFIDENCE_WANTED } from '../kit/figure.ts';
import { PAIRS_TO_TELL_APART } from '../kit/ratio.ts';
import { said, whyUndecided } from '../kit/format.ts';
import type { Plan } from '../plan/plan.ts';
import type { Comparison } from './schema.ts';
import { byChanceAlone } from './significance.ts';

export function notesOf(plan: Plan, comparisons: readonly Comparison[]): string[] {
  return [
    ...methodNotes(plan),
    ...verdictNotes(comparisons),
    ...plan.workloads.map((workload) => workloadNote(workload, plan)),
    ...baselineNotes(plan),
  ];
}

function methodNotes(plan: Plan): string[] {
  const { repetitions, callers, ratesPerSecond, search, instances } = plan;
  return said(
    repetitions === 1
      ? 'Every cell ran once: one run has no interval, and no verdict stands on it.'
      : `Every cell ran ${repetitions} times, in ${repetitions} blocks whose order the seed drew. A figure is the median, with the interval of order statistics that reaches ${CONFIDENCE_WANTED * 100} %, or the whole range and its confidence.`,
    `A ratio compares the runs of each block with each other, and its interval is that of Wilcoxon's signed-rank test, exact. Two figures are told apart where it leaves out 1, from ${PAIRS_TO_TELL_APART} pairs of sound runs on: each of them steady, not cold and not held by a ramp.`,
    'The load runs uncounted until the last slices of the warm-up have as many replies as those before, give or take a tenth or what chance makes of so few; a run that was not steady by then says so, and one that had too few replies to tell. Operations over an edge of the window count in part.',
    callers.length > 0 &&
      'Closed loop: each caller waits for its reply before the next call, so latency is what callers saw at that throughput, not what independent arrivals would see.',
    (ratesPerSecond.length > 0 || search !== null) &&
      `Open loop: calls are due ${plan.arrivals === 'poisson' ? 'when they like at a mean rate (Poisson arrivals, drawn from the seed)' : 'at equal distances'}, whatever was answered, and latency counts from the moment a call was due: what waits while the store stands still is not left out.`,
    instances.some((count) => count > 1) &&
      'Several instances: their windows open at one moment by their own clocks, rates are added up, and histograms merged.',
    `A percentile stands only where at least ten operations were slower in every run: p50 from ${operationsNeeded(50)} operations on, p90 from ${operationsNeeded(90)}, p95 from ${operationsNeeded(95)}, p99 from ${operationsNeeded(99)}, p99.9 from ${operationsNeeded(99.9)}.`,
    'Latency is that of one operation as it is sent and answered: a get, a put, a lookup of 500, a commit, a group transaction, a putMany. Compare it within a workload with the records a call in mind.',
  );
}

function verdictNotes(comparisons: readonly Comparison[]): string[] {
  const ratios = comparisons.flatMap((one) => [one.recordsPerSecond, one.dollarsPerMillionRecords]);
  const judged = ratios.filter((ratio) => ratio !== null && ratio.pairs >= PAIRS_TO_TELL_APART);
  if (judged.length === 0) return [];
  const told = judged.filter((ratio) => whyUndecided(ratio!) === undefined).length;
  return [
    `${told} of ${judged.length} ratios between layouts at the same load differ. ${byChanceAlone(judged.length)}`,
  ];
}

const VERBS = {
  read: 'reads',
  update: 'replacements of whole records',
  insert: 'inserts',
  scan: 'scans of 1 to 100 records',
  modify: 'read-modify-writes',
} as const;

function workloadNote(workload: Workload, plan: Plan): string {
  const { shares, keys } = MIXES[workload];
  if (keys === null) {
    return 'load: every caller hands over 500 new records a call. record: single inserts, one after another. batch: one commit of 500 on Datastore; five group transactions of 100, in parallel, on Azure. container: one putMany.';
  }
  const parts = Object.entries(shares).map(([verb, share]) => `${share * 100} % ${VERBS[verb as keyof typeof VERBS]}`);
  const name = workload.replace('ycsb-', 'YCSB ').toUpperCase();
  const extra = {
    'ycsb-e': ' A scan ends with its tenant and counts as one record.',
    'ycsb-f':
      " No change is lost: the container layout's update, a transaction on Datastore, the entity's ETag on Azure, each tried again when another was quicker. YCSB itself writes without a condition.",
  }[workload as string];
  return `${workload} (${name}): ${parts.join(', ')}, ${plan.keys ?? keys} keys.${extra ?? ''}`;
}

function baselineNotes({ layouts, recordForm }: Plan): string[] {
  return said(
    layouts.includes('batch') &&
      'batch beside load: on Datastore 500 operations a call, reads as one lookup and writes as one commit; on Azure 100 (single gets, group transactions by partition), and of ycsb-c one. Equal keys of a call count once.',
    layouts.includes('driver') &&
      "driver: one entity a record through the store's own driver, which remembers versions as the store does. What containers gain over it is the packing's, what it gains over the SDK the transport's: over batch in load, where both write many records at once, else over record.",
    `Datastore baseline: ${recordForm === 'text' ? 'five properties, the four short ones indexed, as the client does by default' : "ten properties without indexes, as YCSB's own binding has them"}. Azure baseline: partition key = tenant (16), row key = the rest of the key.`,
    'Retries inside the Datastore client are not visible (null). Billable operations are counted as the price list counts them, from what was sent, warm-up included.',
  );
}
