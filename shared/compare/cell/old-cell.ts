// A cell of the comparison: one provider x layout x workload x concurrency. What is asked of a function, and what it answers.
// Both travel as JSON, so both are plain data; the answer carries raw sums and a histogram, so that cells can be merged exactly.
import { z } from 'zod';
import { LAYOUTS, PROVIDERS } from '../dimensions.ts';

export const OLD_WORKLOADS = ['load', 'read', 'update'] as const;

export type OldWorkload = (typeof OLD_WORKLOADS)[number];
import { usageSchema } from '../usage.ts';

/** Records that a caller of the `load` workload hands over in one call, in every layout. */
export const LOAD_RECORDS_PER_CALL = 500;

/** The name of a dataset: a table of the store, a kind or a table of the baseline. */
export const datasetSchema = z.string().regex(/^[a-z][a-z0-9]{2,31}$/);

/** What a cell is asked for. */
export const cellRequestSchema = z.strictObject({
  layout: z.enum(LAYOUTS),
  workload: z.enum(OLD_WORKLOADS),
  /** Callers in flight. Each waits for its reply before it calls again: a closed loop. */
  concurrency: z.int().min(1).max(256),
  /** Length of the measured window; it grows, at most tenfold, while callers have had too few replies (window.ts). */
  durationMs: z.int().min(1).max(60_000).default(1_000),
  /** The same load before the window, not counted. */
  warmupMs: z.int().min(0).max(60_000).default(250),
  /** Everything random in the cell follows from it. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Names the table. `read` and `update` cells may share one; a `load` cell wants a fresh one. */
  dataset: datasetSchema,
  /** Records that a `read` or `update` cell works on; the first such cell of a dataset loads them, before its warm-up. */
  records: z.int().min(1).max(1_000_000).default(10_000),
  /** Bytes of text in a record's five fields. */
  recordBytes: z.int().min(200).max(60_000).default(500),
});

/** What a caller sends: fields with defaults may be left out. */
export type CellRequestInput = z.input<typeof cellRequestSchema>;
/** The same with its defaults filled in. */
export type CellRequest = z.output<typeof cellRequestSchema>;

const share = z.number().min(0).max(1);

/** What a cell answers. */
export const cellResultSchema = z.strictObject({
  provider: z.enum(PROVIDERS),
  layout: z.enum(LAYOUTS),
  workload: z.enum(OLD_WORKLOADS),
  concurrency: z.int().min(1),
  /** Operations that a caller hands over in one call. */
  recordsPerCall: z.int().min(1),
  /** Length of the window as it was measured. */
  durationMs: z.number().positive(),
  /** Records whose reply arrived within the window: the numerator of the throughput. */
  records: z.int().min(0),
  /** Records replied in the whole cell, warm-up and drain included: what `usage` was spent on. */
  recordsTotal: z.int().min(0),
  usage: usageSchema,
  /** Failed records since the window began, by error code. */
  errors: z.record(z.string(), z.int().min(1)),
  /** Failed records of the warm-up. */
  warmupErrors: z.int().min(0),
  /** Operations that had no reply when the drain ended. */
  unfinished: z.int().min(0),
  /** Latency in microseconds of every operation that began within the window, drain included; HdrHistogram V2, compressed, base64. */
  histogram: z.string().min(1),
  /** Operations in the histogram. */
  operations: z.int().min(0),
  /** Null where there were too few operations for it (histogram.ts). */
  p50Ms: z.number().min(0).nullable(),
  p95Ms: z.number().min(0).nullable(),
  p99Ms: z.number().min(0).nullable(),
  maxMs: z.number().min(0),
  processorWait: share.nullable(),
  processorStolen: share.nullable(),
});

export type CellResult = z.infer<typeof cellResultSchema>;
