// The cost of a piece of work, as both clouds bill it: counts and bytes, by provider operation.
import * as z from 'zod';
import { sum } from './numbers.ts';

const count = z.number().min(0);

/** Counts by code: an SDK's own code or status, the store's error code, else the error's name. */
export const countsSchema = z.record(z.string(), z.int().min(1));

export type Counts = z.infer<typeof countsSchema>;

/** The increase of each counter, nested ones too. Both have the same shape. */
export function increase<Counters extends object>(before: Counters, after: Counters): Counters {
  return combined([before, after], ([earlier = 0, later = 0]) => later - earlier);
}

/** The sum of each counter, nested ones too. At least one, all of the same shape. */
export function sumOf<Counters extends object>(all: readonly Counters[]): Counters {
  return combined(all, sum);
}

function combined<Counters extends object>(
  all: readonly Counters[],
  combine: (counts: readonly number[]) => number,
): Counters {
  const entries = Object.keys(all[0]!).map((name) => {
    const counts: readonly unknown[] = all.map((one) => one[name as keyof Counters]);
    const isNested = typeof counts[0] === 'object';
    return [name, isNested ? combined(counts as object[], combine) : combine(counts as number[])];
  });
  return Object.fromEntries(entries) as Counters;
}

export function totalOf(counts: Counts): number {
  return sum(Object.values(counts));
}

export function sumOfCounts(many: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of many) for (const [code, times] of Object.entries(counts)) sums[code] = (sums[code] ?? 0) + times;
  return sums;
}

/** Running totals of a provider's client. */
export const usageSchema = z.strictObject({
  requests: count,
  /** Resent requests by the code of their refusal; null where the SDK hides them. */
  retries: countsSchema.nullable(),
  /** Conditional writes that were refused, as others had written meanwhile, and then repeated. */
  conflicts: count,
  /** Operations as the provider bills them: on Azure a group transaction is one. */
  billable: z.strictObject({ reads: count, writes: count, deletes: count }),
  /** Keys and property values handed to the SDK, without the protocol's own bytes. */
  bytesWritten: count,
  bytesRead: count,
});

export type Usage = z.infer<typeof usageSchema>;

/** What was spent from one reading to a later one. */
export function usageBetween({ retries: earlier, ...before }: Usage, { retries: later, ...after }: Usage): Usage {
  const spent = increase(before, after);
  if (earlier === null || later === null) return { ...spent, retries: null };
  const retries = Object.entries(later).map(([code, times]) => [code, times - (earlier[code] ?? 0)] as const);
  return { ...spent, retries: Object.fromEntries(retries.filter(([, times]) => times > 0)) };
}

/** All retries together, by code; null where an SDK hides them. */
export function retriesOf(all: readonly Pick<Usage, 'retries'>[]): Counts | null {
  const counts = all.map(({ retries }) => retries);
  return counts.every((one) => one !== null) ? sumOfCounts(counts) : null;
}

/** Counters that a baseline keeps. */
export type MutableUsage = { -readonly [K in keyof Usage]: Usage[K] };

/** Nothing yet; `showsRetries` says whether the SDK shows what it repeats. */
export function emptyUsage(showsRetries: boolean): MutableUsage {
  return {
    requests: 0,
    conflicts: 0,
    retries: showsRetries ? {} : null,
    billable: { reads: 0, writes: 0, deletes: 0 },
    bytesWritten: 0,
    bytesRead: 0,
  };
}
