// The report of a comparison as data: `compare.json`, checked before it is written. Sizes in bytes,
// times in milliseconds unless the name says otherwise; null means not known.
import * as z from 'zod';
import { operationPriceListSchema } from '../cost/operations.ts';
import { coordinatesSchema } from '../load/coordinates.ts';
import { placeSchema } from '../load/place.ts';
import { STEADINESS } from '../load/steady.ts';
import { storeCountersSchema } from '../load/store-counters.ts';
import { LAYOUTS, PROVIDERS } from '../kit/dimensions.ts';
import { figureSchema } from '../kit/figure.ts';
import { ratioSchema } from '../kit/ratio.ts';
import { failureSchema, leftOutSchema, leftoverSchema, searchRunSchema } from '../plan/outcome.ts';
import { planSchema, searchSchema } from '../plan/plan.ts';
import { countsSchema, usageSchema } from '../kit/usage.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
export const REPORT_SCHEMA_VERSION = 5;

const positive = z.number().min(0);
const share = positive.max(1);

/** A percentile is null where fewer than ten operations were slower (histogram.ts). */
function latencySchema<One extends z.ZodType>(one: One) {
  const rare = one.nullable();
  return z.strictObject({ meanMs: one, p50Ms: rare, p90Ms: rare, p95Ms: rare, p99Ms: rare, p999Ms: rare, maxMs: one });
}

/** One instance's part of a run. */
const partSchema = z.strictObject({
  /** Index into `places`. */
  place: z.int().min(0),
  isCold: z.boolean(),
  uptimeMs: positive,
  firstOperationMs: positive.nullable(),
  warmupMs: positive,
  steadiness: z.enum(STEADINESS),
  warmupErrors: z.int().min(0),
  /** From the run's earliest opening of a window to this one's, by the instances' own clocks. */
  skewMs: positive,
  durationMs: positive,
  recordsPerSecond: positive,
  behindMsMax: positive.nullable(),
  isHeldByRamp: z.boolean(),
  processorWait: share.nullable(),
  processorStolen: share.nullable(),
  processorBusy: share.nullable(),
  memoryBytes: positive,
});

/** One repetition of a cell: the sums of its parts, and their histograms merged. */
const runSchema = z.strictObject({
  repetition: z.int().min(1),
  startedAt: z.iso.datetime(),
  recordsPerSecond: positive,
  /** Replied within the windows; operations that reached over an edge count in part. */
  records: positive,
  /** Replied in all, warm-up and drain included: what `usage` was spent on. */
  recordsTotal: z.int().min(0),
  /** Operations in the histogram. */
  operations: z.int().min(0),
  latency: latencySchema(positive),
  /** Latencies in microseconds, HdrHistogram V2, compressed, base64. */
  histogram: z.string(),
  errors: countsSchema,
  unfinished: z.int().min(0),
  usage: usageSchema,
  /** The store's counts, warm-up and drain included; null in layouts without it. */
  store: storeCountersSchema.nullable(),
  /** Fit to be judged, as run-of.ts says. */
  isSound: z.boolean(),
  parts: z.array(partSchema).min(1),
});

export const reportCellSchema = z.strictObject({
  ...coordinatesSchema.shape,
  recordsPerCall: z.int().min(1),
  recordsPerSecond: figureSchema,
  /** A figure where every run bears the percentile. */
  latency: latencySchema(figureSchema),
  /** Operations of all runs together. */
  operations: z.int().min(0),
  errors: countsSchema,
  /** Null where the SDK hides them. */
  retries: countsSchema.nullable(),
  unfinished: z.int().min(0),
  requestsPer1000Records: figureSchema,
  billableOperationsPer1000Records: figureSchema,
  dollarsPerMillionRecords: figureSchema,
  bytesWrittenPerRecord: figureSchema,
  bytesReadPerRecord: figureSchema,
  /** In the order they ran. */
  runs: z.array(runSchema).min(1),
});

/** One layout against another at the same coordinates. A ratio over 0 is null. */
const comparisonSchema = z.strictObject({
  ...coordinatesSchema.omit({ layout: true }).shape,
  numerator: z.enum(LAYOUTS),
  denominator: z.enum(LAYOUTS),
  /** Whether their calls hand over equally many records. Else there is no ratio. */
  isLikeWithLike: z.boolean(),
  recordsPerSecond: ratioSchema.nullable(),
  dollarsPerMillionRecords: ratioSchema.nullable(),
});

const bestSchema = z.strictObject({
  ...coordinatesSchema.shape,
  recordsPerCall: z.int().min(1),
  recordsPerSecond: figureSchema,
});

/** Each layout at the load where it was fastest, a choice that favours lucky runs a little. */
const summaryRowSchema = z.strictObject({
  ...coordinatesSchema.pick({ provider: true, workload: true, recordBytes: true }).shape,
  best: z.record(z.enum(LAYOUTS), bestSchema.nullable()),
  containerToRecord: ratioSchema.nullable(),
  /** That of `container-batch` where a call of `container` hands over other numbers of records. */
  containerToBatch: ratioSchema.nullable(),
  containerToDriver: ratioSchema.nullable(),
  /** To `batch` in `load`, else to `record`: a request of theirs has as many records. */
  driverToSdk: ratioSchema.nullable(),
});

/** The highest rate that held a latency. */
const reportSearchSchema = z.strictObject({
  ...coordinatesSchema.shape,
  search: searchSchema,
  /** The rate of the runs that confirmed one; 0 where none held twice. */
  ratePerSecondHeld: figureSchema,
  /** The percentile in those runs; null where none held twice. */
  latencyMs: figureSchema.nullable(),
  runs: z.array(searchRunSchema).min(1),
});

/** Figures that are compared with an earlier report's, by the names that conditions use. */
export const COMPARED_NAMES = ['throughput', 'p50', 'p95', 'p99', 'cost'] as const;

const changeSchema = z.strictObject({
  ...coordinatesSchema.shape,
  figure: z.enum(COMPARED_NAMES),
  before: figureSchema,
  now: figureSchema,
  /** Ratio of the medians, now to before. */
  ratio: positive,
  /** Two-sided Mann-Whitney test of the repetitions, exact. */
  p: share,
  /** `undecided`: the difference may be chance. */
  verdict: z.enum(['higher', 'lower', 'undecided']),
});

const againstSchema = z.strictObject({
  /** When the earlier comparison began. */
  startedAt: z.iso.datetime(),
  /** Below this p a change counts. */
  significance: share,
  changes: z.array(changeSchema),
  /** Cells that only one of the two has. */
  onlyBefore: z.int().min(0),
  onlyNow: z.int().min(0),
  /** All other differences between the two comparisons, a sentence each. */
  otherwise: z.array(z.string()),
});

/** The machine that asked for the cells, which is not where they ran. */
const coordinatorSchema = z.strictObject({
  cpu: z.string(),
  cores: z.int().min(1),
  memoryBytes: positive,
  platform: z.string(),
  node: z.string(),
});

export const circumstancesSchema = z.strictObject({
  /** ISO 8601, UTC. */
  startedAt: z.iso.datetime(),
  durationMs: positive,
  coordinator: coordinatorSchema,
  /** Package -> version, on the coordinator's machine. */
  versions: z.record(z.string(), z.string()),
  /** The coordinator's commit; null outside of a repository. */
  commit: z.string().nullable(),
  /** The command that repeats the comparison; null where there is none. */
  command: z.string().nullable(),
  /** The clouds that were asked for; what took part shows in `places`. */
  providers: z.array(z.strictObject({ provider: z.enum(PROVIDERS), ran: z.boolean(), why: z.string() })),
});

export const reportSchema = z.strictObject({
  schemaVersion: z.literal(REPORT_SCHEMA_VERSION),
  ...circumstancesSchema.shape,
  /** Why the comparison ended before its last run (Ctrl-C, a deadline); null if it did not. */
  endedEarly: z.string().nullable(),
  plan: planSchema,
  prices: operationPriceListSchema,
  /** Every function instance that answered, by its own word. */
  places: z.array(placeSchema),
  cells: z.array(reportCellSchema),
  /** `container` against each other layout, cell by cell. */
  comparisons: z.array(comparisonSchema),
  summary: z.array(summaryRowSchema),
  searches: z.array(reportSearchSchema),
  failures: z.array(failureSchema),
  leftOut: z.array(leftOutSchema),
  leftovers: z.array(leftoverSchema),
  /** Changes since an earlier report, where one was given. */
  against: againstSchema.optional(),
  /** Notes for reading the figures; they follow from the plan and the ratios. */
  notes: z.array(z.string()),
});

export type ReportRun = z.infer<typeof runSchema>;
export type ReportCell = z.infer<typeof reportCellSchema>;
export type Comparison = z.infer<typeof comparisonSchema>;
export type Best = z.infer<typeof bestSchema>;
export type SummaryRow = z.infer<typeof summaryRowSchema>;
export type ReportSearch = z.infer<typeof reportSearchSchema>;
export type Change = z.infer<typeof changeSchema>;
export type Against = z.infer<typeof againstSchema>;
export type Circumstances = z.infer<typeof circumstancesSchema>;
export type Report = z.infer<typeof reportSchema>;

/** The whole document, as JSON data. */
export function reportJsonSchema(): object {
  return {
    ...z.toJSONSchema(reportSchema, { reused: 'ref', io: 'output' }),
    title: 'Report of a comparison of Stowage',
    description: `compare.json, schema version ${REPORT_SCHEMA_VERSION}. Times in milliseconds and sizes in bytes unless a name says otherwise; null means not known.`,
  };
}
