// The outcome of a plan's run, as it comes and when it is over, and the parts of a run as if one
// instance had done it all.
import * as z from 'zod';
import { type CellResult, type Coordinates, coordinatesSchema } from '../load/cell.ts';
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';
import { mergeHistograms } from '../kit/histogram.ts';
import { sum } from '../kit/numbers.ts';
import { retriesOf, sumOf, sumOfCounts, type Usage } from '../kit/provider-usage.ts';

/** One run of a cell: all of its instances answered. */
export interface CellRun {
  readonly cell: Coordinates;
  /** From 1. */
  readonly repetition: number;
  readonly parts: readonly CellResult[];
}

/** The target failed, timed out, or gave an answer that cannot be read. */
export const failureSchema = coordinatesSchema.extend({ repetition: z.int().min(1), error: z.string() });

export type FailedRun = z.infer<typeof failureSchema>;

export const leftOutSchema = coordinatesSchema
  .pick({ provider: true, layout: true, workload: true })
  .extend({ why: z.string() });

export type LeftOut = z.infer<typeof leftOutSchema>;

/** A dataset of the run that could not be removed after it: it is at the provider still. */
export const leftoverSchema = z.strictObject({ provider: z.enum(PROVIDERS), dataset: z.string(), error: z.string() });

export type Leftover = z.infer<typeof leftoverSchema>;

export const tryResultSchema = z.strictObject({
  ratePerSecond: z.number().positive(),
  achievedPerSecond: z.number().min(0),
  /** Null where too few operations were slower. */
  latencyMs: z.number().min(0).nullable(),
  isHeld: z.boolean(),
  /** Why it did not hold; empty where it did. */
  why: z.string(),
});

export type SearchTry = z.infer<typeof tryResultSchema>;

/** One search of a cell, whose `ratePerSecond` is null, as the rate was searched for. */
export const searchRunSchema = z.strictObject({
  repetition: z.int().min(1),
  /** One more run of the highest rate that held, which held again; null where none did. */
  confirmed: tryResultSchema.nullable(),
  /** All others, in the order they were tried. */
  tries: z.array(tryResultSchema),
});

export type SearchRun = z.infer<typeof searchRunSchema> & { readonly cell: Coordinates };

export interface PlanOutcome {
  /** In the order they ran. */
  readonly runs: readonly CellRun[];
  readonly searches: readonly SearchRun[];
  readonly failures: readonly FailedRun[];
  readonly leftOut: readonly LeftOut[];
  readonly leftovers: readonly Leftover[];
  /** Why the plan ended before its last run; null if it did not. */
  readonly endedEarly: string | null;
}

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** An event of a running plan. `done` and `total` count runs. */
export type PlanEvent =
  | (Progress & { readonly kind: 'begun'; readonly cell: Coordinates; readonly repetition: number })
  | (Progress & { readonly kind: 'ended'; readonly run: CellRun })
  | (Progress & { readonly kind: 'searched'; readonly search: SearchRun })
  | (Progress & { readonly kind: 'failed'; readonly failure: FailedRun })
  /** A dataset is about to be made, or is gone: callers that may crash note it in between. */
  | { readonly kind: 'making' | 'gone'; readonly provider: Provider; readonly dataset: string }
  /** A dataset is being loaded, or everything is being removed: no figure counts it. */
  | { readonly kind: 'preparing' | 'removing'; readonly what: string };

export type Merged = ReturnType<typeof mergeParts>;

/** At least one part; all of one run. Rates are each instance's own over its own window. */
export function mergeParts(parts: readonly CellResult[]) {
  return {
    recordsPerSecond: sum(parts.map(rateOf)),
    records: sum(parts.map(({ records }) => records)),
    recordsFirstHalf: sum(parts.map(({ recordsFirstHalf }) => recordsFirstHalf)),
    recordsTotal: sum(parts.map(({ recordsTotal }) => recordsTotal)),
    recordsPerCall: parts[0]!.recordsPerCall,
    histogram: mergeHistograms(parts.map(({ histogram }) => histogram)),
    errors: sumOfCounts(parts.map(({ errors }) => errors)),
    unfinished: sum(parts.map(({ unfinished }) => unfinished)),
    usage: mergeUsage(parts.map(({ usage }) => usage)),
    store: parts[0]!.store && sumOf(parts.flatMap(({ store }) => store ?? [])),
  };
}

export function rateOf({ records, durationMs }: Pick<CellResult, 'records' | 'durationMs'>): number {
  return records / (durationMs / 1_000);
}

function mergeUsage(all: readonly Usage[]): Usage {
  const counted = all.map((usage) => ({ ...usage, retries: 0 }));
  return { ...sumOf(counted), retries: retriesOf(all) };
}
