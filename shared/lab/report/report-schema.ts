// The report of a comparison as data: `compare.json`, checked before it is written. Sizes in bytes,
// times in milliseconds unless the name says otherwise; null means not known.
import * as z from 'zod';
import { operationPriceListSchema } from '../cost/prices.ts';
import { cellResultSchema, coordinatesSchema, placeSchema, STEADINESS } from '../load/cell.ts';
import { PROVIDERS, WORKLOADS } from '../kit/dimensions.ts';
import { figureSchema, ratioSchema } from '../kit/figure.ts';
import { failureSchema, leftOutSchema, leftoverSchema, searchRunSchema } from '../plan/outcome.ts';
import { planSchema, searchSchema } from '../plan/plan.ts';
import { countsSchema } from '../kit/provider-usage.ts';

/** What to know about a run beside its figure (warnings.ts). A mark voids no verdict. */
export const MARKS = [
  'cold',
  'unsteady',
  'ramp',
  'skewed',
  'waited',
  'stolen',
  'thread full',
  'emulator full',
] as const;

export type Mark = (typeof MARKS)[number];

/** Raised when a field changes its meaning or is removed; a new field does not raise it. */
export const REPORT_SCHEMA_VERSION = 6;

const positive = z.number().min(0);
const share = positive.max(1);

/** Of one operation. A percentile is null where fewer than ten were slower (histogram.ts). */
const latencySchema = z.strictObject({
  meanMs: positive,
  p50Ms: positive.nullable(),
  p90Ms: positive.nullable(),
  p95Ms: positive.nullable(),
  p99Ms: positive.nullable(),
  p999Ms: positive.nullable(),
  maxMs: positive,
});

/** One instance's part of a run. */
const partSchema = z.strictObject({
  /** Index into `places`. */
  place: z.int().min(0),
  ...cellResultSchema.pick({
    isCold: true,
    uptimeMs: true,
    firstOperationMs: true,
    durationMs: true,
    behindMsMax: true,
    isHeldByRamp: true,
    memoryBytes: true,
  }).shape,
  warmupMs: positive,
  steadiness: z.enum(STEADINESS),
  warmupErrors: z.int().min(0),
  /** From the run's earliest opening of a window to this one's, by the instances' own clocks. */
  skewMs: positive,
  recordsPerSecond: positive,
  processorWait: share.nullable(),
  processorStolen: share.nullable(),
  processorBusy: share.nullable(),
  emulatorBusy: share.nullable(),
});

/** One repetition of a cell: the sums of its parts, and their histograms merged. */
const runSchema = z.strictObject({
  repetition: z.int().min(1),
  startedAt: z.iso.datetime(),
  recordsPerSecond: positive,
  ...cellResultSchema.pick({
    records: true,
    recordsFirstHalf: true,
    recordsTotal: true,
    operations: true,
    histogram: true,
    errors: true,
    unfinished: true,
    usage: true,
    store: true,
  }).shape,
  latency: latencySchema,
  /** Of the functions' processes, all threads, for each record of `recordsTotal`. */
  processorUsPerRecord: positive,
  /** What to know beside its figure (warnings.ts). */
  marks: z.array(z.enum(MARKS)),
  parts: z.array(partSchema).min(1),
});

export const reportCellSchema = z.strictObject({
  ...coordinatesSchema.shape,
  recordsPerCall: z.int().min(1),
  recordsPerSecond: figureSchema,
  /** Of all runs' operations together. */
  latency: latencySchema,
  /** Operations of all runs together. */
  operations: z.int().min(0),
  errors: countsSchema,
  /** Null where the SDK hides them. */
  retries: countsSchema.nullable(),
  unfinished: z.int().min(0),
  requestsPer1000Records: figureSchema,
  billableOperationsPer1000Records: figureSchema,
  dollarsPerMillionRecords: figureSchema,
  processorUsPerRecord: figureSchema,
  bytesWrittenPerRecord: figureSchema,
  bytesReadPerRecord: figureSchema,
  /** The factor by which the rate drifted within the windows, beyond chance (figure.ts). */
  drift: z.number().min(1).nullable(),
  /** In most runs the function's thread or the emulator's was full: the machine was the limit. */
  isMachineLimited: z.boolean(),
  /** By repetition. */
  runs: z.array(runSchema).min(1),
});

const sideSchema = coordinatesSchema.pick({ provider: true, layout: true });

/** Two layouts of a cloud, or a layout on two clouds, at the same load. A ratio over 0 is null. */
const comparisonSchema = z.strictObject({
  ...coordinatesSchema.omit({ provider: true, layout: true }).shape,
  numerator: sideSchema,
  denominator: sideSchema,
  recordsPerSecond: ratioSchema.nullable(),
  dollarsPerMillionRecords: ratioSchema.nullable(),
  processorUsPerRecord: ratioSchema.nullable(),
  /** At one of the two the machine was the limit: the ratio says little of the store. */
  isMachineLimited: z.boolean(),
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
export const COMPARED_NAMES = ['throughput', 'p50', 'p99', 'cost', 'processor'] as const;

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

/** The network that emulators answered behind. */
const networkSchema = z.strictObject({
  /** `cloud`: as the services answer; or a round trip of one's own, such as `25ms`. */
  name: z.string(),
  /** Medians for one entity, way and service together. */
  roundTrips: z.array(z.strictObject({ provider: z.enum(PROVIDERS), readMs: positive, commitMs: positive })).min(1),
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
  /** What the emulators' answers waited for; null where they did not wait, or clouds were asked. */
  network: networkSchema.nullable(),
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
  comparisons: z.array(comparisonSchema),
  /** What a reader in a hurry wants to know, a sentence for each workload that was measured. */
  sentences: z.array(z.strictObject({ workload: z.enum(WORKLOADS), text: z.string() })),
  /** The goals of the plan `bench`, where it is that one; a missed goal is no failure. */
  goals: z.array(z.strictObject({ text: z.string(), ratio: positive, goal: positive, isMet: z.boolean() })),
  /** What to know before any figure is believed, a sentence each. */
  warnings: z.array(z.string()),
  searches: z.array(reportSearchSchema),
  failures: z.array(failureSchema),
  leftOut: z.array(leftOutSchema),
  leftovers: z.array(leftoverSchema),
  /** Changes since an earlier report, where one was given. */
  against: againstSchema.optional(),
});

export type ReportRun = z.infer<typeof runSchema>;
export type ReportCell = z.infer<typeof reportCellSchema>;
export type Comparison = z.infer<typeof comparisonSchema>;
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
