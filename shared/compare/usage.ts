// What a piece of work consumed, as both clouds bill it: counts and bytes, by provider operation.
import { z } from 'zod';

const count = z.number().min(0);

/** What was spent at the provider, as running totals. */
export const usageSchema = z.strictObject({
  requests: count,
  /** Requests that the SDK, or the store, repeated; null where the SDK does not show it. */
  retries: count.nullable(),
  /** What the provider bills: entities on Datastore, requests on Azure Table Storage (a group transaction is one). */
  billable: z.strictObject({ reads: count, writes: count, deletes: count }),
  /** Keys and property values handed to the SDK, without the protocol's own bytes. */
  bytesWritten: count,
  bytesRead: count,
});

export type Usage = z.infer<typeof usageSchema>;

/** Counters that a baseline keeps. */
export type MutableUsage = { -readonly [K in keyof Usage]: Usage[K] };

export function emptyUsage(retries: number | null): MutableUsage {
  return { requests: 0, retries, billable: { reads: 0, writes: 0, deletes: 0 }, bytesWritten: 0, bytesRead: 0 };
}
