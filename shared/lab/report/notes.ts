// What a reader has to know to read the figures; only what is true of this very comparison.
import { operationsNeeded } from '../kit/histogram.ts';
import type { Place } from '../load/place.ts';
import { MIXES } from '../work/workloads.ts';
import type { Workload } from '../kit/dimensions.ts';
import { CONFIDENCE_WANTED, REPETITIONS_TO_TELL_APART } from '../kit/figure.ts';
import type { PlanOutcome } from '../plan/outcome.ts';
import type { Plan } from '../plan/plan.ts';

export function notesOf(plan: Plan, places: readonly Place[], outcome: PlanOutcome): string[] {
  return [
    ...placeNotes(places),
    ...methodNotes(plan),
    ...plan.workloads.map((workload) => workloadNote(workload, plan)),
    ...baselineNotes(plan),
    ...heldNotes(outcome),
  ];
}

function placeNotes(places: readonly Place[]): string[] {
  const emulated = places.filter(({ isEmulator }) => isEmulator);
  const clouds = [...new Set(places.filter(({ isEmulator }) => !isEmulator).map(({ backend }) => backend))];
  const [runtimes, commits] = [new Set(places.map(({ runtime }) => runtime)), new Set(places.map((one) => one.commit))];
  return [
    ...(emulated.length > 0
      ? [
          'Emulators, not the clouds: they share a machine with the functions, have no network and no throttling. Ratios between layouts carry over better than rates; neither is a promise.',
        ]
      : []),
    ...(clouds.length > 0 ? [`Real services: ${clouds.join(', ')}.`] : []),
    ...(runtimes.size > 1 ? [`The functions ran on different runtimes: ${[...runtimes].join(', ')}.`] : []),
    ...(commits.size > 1 ? ['The functions were built from different commits.'] : []),
  ];
}

function methodNotes(plan: Plan): string[] {
  const { repetitions, callers, ratesPerSecond, search, instances } = plan;
  return [
    `Every cell ran ${repetitions} times, in ${repetitions} blocks whose order the seed drew. A figure is the median, with the interval of order statistics that reaches ${CONFIDENCE_WANTED * 100} %, or the whole range and its confidence. Two figures are told apart where their intervals do not meet and each has at least ${REPETITIONS_TO_TELL_APART} runs.`,
    'The load runs uncounted until three slices of the warm-up have as many replies as the three before, give or take a tenth or what chance makes of so few; a run that was not steady by then says so. Operations over an edge of the window count in part.',
    ...(callers.length > 0
      ? [
          'Closed loop: each caller waits for its reply before the next call, so latency is what callers saw at that throughput, not what independent arrivals would see.',
        ]
      : []),
    ...(ratesPerSecond.length > 0 || search !== null
      ? [
          'Open loop: calls are due at equal distances, whatever was answered, and latency counts from the moment a call was due: what waits while the store stands still is not left out.',
        ]
      : []),
    ...(instances.some((count) => count > 1)
      ? [
          'Several instances: their windows open at one moment by their own clocks, rates are added up, and histograms merged.',
        ]
      : []),
    `A percentile stands only where at least ten operations were slower in every run: p50 from ${operationsNeeded(50)} operations on, p90 from ${operationsNeeded(90)}, p95 from ${operationsNeeded(95)}, p99 from ${operationsNeeded(99)}, p99.9 from ${operationsNeeded(99.9)}.`,
    'Latency is that of one operation as it is sent and answered: a get, a put, a lookup of 500, a commit, a group transaction, a putMany. Compare it within a workload with the records a call in mind.',
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
  return [
    ...(layouts.includes('batch')
      ? [
          'batch beside load: on Datastore 500 operations a call, reads as one lookup and writes as one commit; on Azure 100 (single gets, group transactions by partition), and of ycsb-c one. Equal keys of a call count once.',
        ]
      : []),
    ...(layouts.includes('driver')
      ? [
          "driver: one entity a record through the store's own driver, which remembers versions as the store does. What containers gain over it is the packing's, what it gains over the SDK the transport's: over batch in load, where both write many records at once, else over record.",
        ]
      : []),
    `Datastore baseline: ${recordForm === 'text' ? 'five properties, the four short ones indexed, as the client does by default' : "ten properties without indexes, as YCSB's own binding has them"}. Azure baseline: partition key = tenant (16), row key = the rest of the key.`,
    'Retries inside the Datastore client are not visible (null). Billable operations are counted as the price list counts them, from what was sent, warm-up included.',
  ];
}

function heldNotes({ runs }: PlanOutcome): string[] {
  if (!runs.some(({ parts }) => parts.some(({ isHeldByRamp }) => isHeldByRamp))) return [];
  return [
    "Some runs were held back by Datastore's rule for new data (500 operations a second, half as many more every five minutes): their throughput is that of the rule, not of the service. They are marked.",
  ];
}
