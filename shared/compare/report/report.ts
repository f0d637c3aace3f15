// The report of a comparison as data: what `report/compare.json` holds. SCHEMA.md describes it for readers in other languages.
// Pure: the same outcome and circumstances always make the same report.
import { z } from 'zod';
import { type CellResult, LAYOUTS, PROVIDERS, WORKLOADS } from '../cell/cell.ts';
import { type MeasuredCell, type PlanOutcome, rateOf } from '../plan/coordinator.ts';
import type { Plan } from '../plan/plan.ts';
import { dollarsPerMillionRecords, type Prices } from './prices.ts';
import { summaryOf } from './summary.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
export const REPORT_SCHEMA_VERSION = 2;

const coordinates = {
  provider: z.enum(PROVIDERS),
  layout: z.enum(LAYOUTS),
  workload: z.enum(WORKLOADS),
  concurrency: z.int().min(1),
};

const positive = z.number().min(0);
const share = positive.max(1);

export const reportCellSchema = z.strictObject({
  ...coordinates,
  recordsPerCall: z.int().min(1),
  recordsPerSecond: positive,
  operations: z.int().min(0),
  p50Ms: positive.nullable(),
  p95Ms: positive.nullable(),
  p99Ms: positive.nullable(),
  maxMs: positive,
  processorWait: share.nullable(),
  processorStolen: share.nullable(),
  errors: z.int().min(0),
  errorsByCode: z.record(z.string(), z.int()),
  unfinished: z.int().min(0),
  retries: positive.nullable(),
  requests: positive,
  billableOperations: positive,
  bytesWritten: positive,
  bytesRead: positive,
  requestsPer1000Records: positive,
  billableOperationsPer1000Records: positive,
  dollarsPerMillionRecords: positive,
  records: z.int().min(0),
  durationMs: positive,
  repetitions: z.array(positive).min(1),
  histogram: z.string(),
});
export type ReportCell = z.infer<typeof reportCellSchema>;

const bestSchema = z.strictObject({
  recordsPerCall: z.int(),
  recordsPerSecond: positive,
  concurrency: z.int(),
  repetitions: z.array(positive).min(1),
});

export const summaryRowSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  workload: z.enum(WORKLOADS),
  best: z.strictObject({
    record: bestSchema.nullable(),
    batch: bestSchema.nullable(),
    container: bestSchema.nullable(),
  }),
  containerToBatch: positive.nullable(),
  containerToRecord: positive.nullable(),
});
export type SummaryRow = z.infer<typeof summaryRowSchema>;

const circumstancesSchema = z.strictObject({
  /** ISO 8601, UTC. */
  startedAt: z.iso.datetime(),
  durationMs: positive,
  machine: z.strictObject({
    cpu: z.string(),
    cores: z.int().min(1),
    memoryBytes: positive,
    platform: z.string(),
    node: z.string(),
  }),
  /** Package -> version. */
  versions: z.record(z.string(), z.string()),
  /** What stood in for each cloud, or why it was left out. */
  providers: z.array(
    z.strictObject({ provider: z.enum(PROVIDERS), ran: z.boolean(), backend: z.string(), isEmulator: z.boolean() }),
  ),
});
export type Circumstances = z.infer<typeof circumstancesSchema>;

export const reportSchema = z.strictObject({
  schemaVersion: z.literal(REPORT_SCHEMA_VERSION),
  ...circumstancesSchema.shape,
  plan: z.strictObject({
    name: z.string(),
    rungs: z.array(z.int()),
    durationMs: z.int(),
    warmupMs: z.int(),
    records: z.int(),
    recordBytes: z.int(),
    seed: z.int(),
    loadRepetitions: z.int(),
  }),
  prices: z.strictObject({
    date: z.string(),
    providers: z.record(
      z.enum(PROVIDERS),
      z.strictObject({
        region: z.string(),
        billed: z.string(),
        dollarsPerRead: positive,
        dollarsPerWrite: positive,
        dollarsPerDelete: positive,
        source: z.string(),
      }),
    ),
  }),
  cells: z.array(reportCellSchema),
  failures: z.array(z.strictObject({ ...coordinates, error: z.string() })),
  leftovers: z.array(z.strictObject({ provider: z.enum(PROVIDERS), dataset: z.string(), error: z.string() })),
  summary: z.array(summaryRowSchema),
  notes: z.array(z.string()),
});
export type Report = z.infer<typeof reportSchema>;

/** What every reader of the figures has to know. */
const NOTES: readonly string[] = [
  'Emulators on one machine, not the clouds: they share its cores with the functions, have no network and no throttling. Ratios between layouts carry over better than rates; neither is a promise.',
  'Closed loop: each caller waits for its reply before the next call, so latency shows what callers saw at that throughput, not what an independent stream of arrivals would see.',
  'load: every caller hands over 500 new records a call. record: single inserts, one after another. batch: one commit of 500 on Datastore; five group transactions of 100, in parallel, on Azure. container: one putMany.',
  'read: uniformly drawn keys. record and container: one strong get a call. batch: one lookup of 500 keys a call on Datastore; Azure has no batched get, so its batch layout reads single records, as the record layout does.',
  'update: half reads, half replacements of whole records, scrambled zipfian keys (theta 0.99, as in YCSB A). record and container: one operation a call. batch: 500 operations a call on Datastore, 100 on Azure (single gets, group transactions by partition), equal keys of a call once.',
  'Latency is that of one operation as it is sent and answered: a get, a put, a lookup of 500, a commit, a group transaction, a putMany. Compare it within a workload with the call sizes above in mind.',
  'A percentile stands only where at least ten operations were slower: p50 from 20 operations on, p95 from 200, p99 from 1,000. Loads of 500 records a call make few of them in a second.',
  'Datastore baseline: five properties, the four short ones indexed, as the client does by default. Azure baseline: partition key = tenant (16), row key = the rest of the key.',
  'Retries inside the Datastore client are not visible (null). Billable operations are counted as the price list counts them, from what was sent.',
];

/** Makes the report. Of a repeated cell the run with the median throughput stands for all. */
export function reportOf(outcome: PlanOutcome, plan: Plan, prices: Prices, circumstances: Circumstances): Report {
  const cells = outcome.cells.map((cell) => reportCellOf(cell, prices));
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    ...circumstances,
    plan: { ...plan, rungs: [...plan.rungs] },
    prices: structuredClone(prices),
    cells,
    failures: [...outcome.failures],
    leftovers: [...outcome.leftovers],
    summary: summaryOf(cells),
    notes: [...NOTES],
  };
}

function reportCellOf({ runs, ...coordinates }: MeasuredCell, prices: Prices): ReportCell {
  const run = medianRun(runs);
  const { usage, recordsTotal, records, errors, unfinished, durationMs, histogram } = run;
  const { operations, p50Ms, p95Ms, p99Ms, maxMs, processorWait, processorStolen } = run;
  const billable = usage.billable.reads + usage.billable.writes + usage.billable.deletes;
  // Requests are sent in the warm-up and the drain too: the window gets its share of them.
  const share = records / recordsTotal;
  return {
    ...coordinates,
    recordsPerCall: run.recordsPerCall,
    recordsPerSecond: rounded(rateOf(run)),
    operations,
    p50Ms,
    p95Ms,
    p99Ms,
    maxMs,
    processorWait,
    processorStolen,
    errors: Object.values(errors).reduce((sum, count) => sum + count, 0),
    errorsByCode: errors,
    unfinished,
    retries: usage.retries,
    requests: Math.round(usage.requests * share),
    billableOperations: Math.round(billable * share),
    bytesWritten: Math.round(usage.bytesWritten * share),
    bytesRead: Math.round(usage.bytesRead * share),
    requestsPer1000Records: rounded((usage.requests / recordsTotal) * 1_000),
    billableOperationsPer1000Records: rounded((billable / recordsTotal) * 1_000),
    dollarsPerMillionRecords: dollarsPerMillionRecords(usage.billable, recordsTotal, prices.providers[run.provider]),
    records,
    durationMs: rounded(durationMs),
    repetitions: runs.map((each) => rounded(rateOf(each))),
    histogram,
  };
}

/** Of an even number the slower of the two in the middle. */
export function medianRun(runs: readonly CellResult[]): CellResult {
  const byRate = [...runs].sort((one, other) => rateOf(one) - rateOf(other));
  return byRate[Math.floor((byRate.length - 1) / 2)]!;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
