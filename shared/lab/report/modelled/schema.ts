// The model's report as data: what `report/model.json` holds, checked before it is written. SCHEMA.md describes it for readers in other languages.
import * as z from 'zod';
import { MODEL_KEY_CHOICES, MODEL_LAYOUTS, MODEL_WORKLOADS, PROVIDERS } from '../../kit/dimensions.ts';
import { pricesSchema } from '../schema.ts';

/** Raised when a field changes its meaning or goes; a new field does not raise it. */
export const MODEL_SCHEMA_VERSION = 3;

const positive = z.number().min(0);

const level = z.enum(['low', 'middle', 'high']);

/** Of a modelled cell: what the comparison's coordinates do not say, and figures that only a model has. */
const modelledCellSchema = z.strictObject({
  group: z.string(),
  across: z.string(),
  at: positive,
  case: z.string(),
  keys: z.enum(MODEL_KEY_CHOICES).nullable(),
  records: z.int(),
  instances: z.int(),
  arrivalsPerSecond: positive.nullable(),
  containerKib: z.int().nullable(),
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

const modelReportCellSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  layout: z.enum(MODEL_LAYOUTS),
  workload: z.enum(MODEL_WORKLOADS),
  concurrency: z.int().min(1),
  recordsPerCall: z.int().min(1),
  recordsPerSecond: positive,
  operations: z.int().min(0),
  p50Ms: positive.nullable(),
  p95Ms: positive.nullable(),
  p99Ms: positive.nullable(),
  maxMs: positive,
  errors: z.int().min(0),
  errorsByCode: z.record(z.string(), z.int()),
  unfinished: z.int().min(0),
  requests: positive,
  billableOperations: positive,
  bytesWritten: positive,
  bytesRead: positive,
  requestsPer1000Records: positive,
  billableOperationsPer1000Records: positive,
  dollarsPerMillionRecords: positive,
  records: positive,
  durationMs: positive,
  histogram: z.string(),
  model: modelledCellSchema,
});

export type ModelReportCell = z.infer<typeof modelReportCellSchema>;

export const modelReportSchema = z.strictObject({
  schemaVersion: z.literal(MODEL_SCHEMA_VERSION),
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
  providers: z.array(
    z.strictObject({ provider: z.enum(PROVIDERS), ran: z.boolean(), backend: z.string(), isEmulator: z.boolean() }),
  ),
  plan: z.strictObject({
    name: z.string(),
    concurrencies: z.array(z.int()),
    durationMs: z.int(),
    warmupMs: z.int(),
    records: z.int(),
    recordBytes: z.int(),
    seed: z.int(),
  }),
  prices: pricesSchema,
  cells: z.array(modelReportCellSchema),
  notes: z.array(z.string()),
  model: modelSchema,
});

export type ModelReport = z.infer<typeof modelReportSchema>;
