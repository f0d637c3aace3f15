// The report of a comparison as data: what `report/compare.json` holds, checked before it is written. SCHEMA.md describes it for readers
// in other languages.
import { z } from 'zod';
import { OLD_WORKLOADS } from '../cell/old-cell.ts';
import { type Layout, PROVIDERS } from '../dimensions.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
export const REPORT_SCHEMA_VERSION = 2;

/** A model has one layout more: records that are read first, and written if nobody else wrote them. */
export const REPORT_LAYOUTS = ['record', 'conditional', 'batch', 'container'] as const satisfies readonly (
  Layout | 'conditional'
)[];

export type ReportLayout = (typeof REPORT_LAYOUTS)[number];

const coordinates = {
  provider: z.enum(PROVIDERS),
  layout: z.enum(REPORT_LAYOUTS),
  workload: z.enum([...OLD_WORKLOADS, 'put', 'modify']),
  concurrency: z.int().min(1),
};

const positive = z.number().min(0);

const share = positive.max(1);

const level = z.enum(['low', 'middle', 'high']);

/** Of a modelled cell: what the comparison's coordinates do not say, and figures that only a model has. */
const modelledCellSchema = z.strictObject({
  group: z.string(),
  across: z.string(),
  at: positive,
  case: z.string(),
  keys: z.enum(['uniform', 'zipfian', 'one']),
  records: z.int(),
  instances: z.int(),
  arrivalsPerSecond: positive.nullable(),
  containerBytesMax: z.int().nullable(),
  containers: z.int().nullable(),
  settings: z.record(z.string(), z.union([z.number(), level])),
  parameters: z.array(z.string()),
  warmupMs: positive,
  conflictsPer1000Records: positive,
  slowestCaller: positive.nullable(),
  processorBusiest: positive,
  processorMean: positive,
  underWay: positive,
  splits: z.int(),
  throttled: z.int(),
  contended: z.int(),
  lost: z.int(),
  timedOut: z.int(),
});

/** What was modelled, and with which numbers. */
const modelSchema = z.strictObject({
  what: z.string(),
  clouds: z.array(
    z.strictObject({
      provider: z.enum(PROVIDERS),
      name: z.string(),
      date: z.string(),
      parameters: z.array(
        z.strictObject({
          name: z.string(),
          value: z.number(),
          low: z.number(),
          middle: z.number(),
          high: z.number(),
          grade: z.enum(['documented', 'measured', 'guessed']),
          source: z.string(),
        }),
      ),
    }),
  ),
  /** The calibration that processor time comes from; null where it costs nothing. */
  processor: z
    .strictObject({ measured: z.string(), cpu: z.string(), platform: z.string(), node: z.string() })
    .nullable(),
  goals: z.array(
    z.strictObject({
      provider: z.enum(PROVIDERS),
      group: z.string(),
      case: z.string(),
      what: z.string(),
      wanted: z.string(),
      value: z.number().nullable(),
      isReached: z.boolean(),
    }),
  ),
});

const reportCellSchema = z.strictObject({
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
  model: modelledCellSchema.optional(),
});

export type ReportCell = z.infer<typeof reportCellSchema>;

const bestSchema = z.strictObject({
  recordsPerCall: z.int(),
  recordsPerSecond: positive,
  concurrency: z.int(),
  repetitions: z.array(positive).min(1),
});

const summaryRowSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  workload: z.enum(OLD_WORKLOADS),
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
    concurrencies: z.array(z.int()),
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
  /** Only in the report of a model: then no figure of it was measured. */
  model: modelSchema.optional(),
});

export type Report = z.infer<typeof reportSchema>;
