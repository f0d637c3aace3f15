// Counters of a modelled service, and of its bill.
import type { Provider } from '../../kit/dimensions.ts';
import type { ModelRequest, Reply } from './request.ts';

/** Running totals. */
export type ServiceCounters = ReturnType<typeof noCounts>;

export function noCounts() {
  return {
    /** Requests sent, those that failed included. */
    requests: 0,
    /** Refused for their rate (503, RESOURCE_EXHAUSTED). */
    throttled: 0,
    /** Given up for a lock (ABORTED). */
    contended: 0,
    /** Conditions that did not hold (412, 409, FAILED_PRECONDITION). */
    conflicts: 0,
    /** Failed with a broken connection. */
    lost: 0,
    timedOut: 0,
    /** Billed operations: on Datastore entities, on Azure requests. */
    billable: { reads: 0, writes: 0, deletes: 0 },
    bytesRead: 0,
    bytesWritten: 0,
  };
}

/** Neither provider says that a failed condition is free, so it is counted. */
export function countServed(
  counters: ServiceCounters,
  provider: Provider,
  { kind, accesses }: ModelRequest,
  reply: Reply,
): void {
  if (reply.isRefused) counters.conflicts += 1;
  counters.bytesRead += reply.bytes;
  for (const { bytes } of accesses) counters.bytesWritten += bytes;
  const { billable } = counters;
  if (provider === 'azure-tables') {
    const first = accesses[0]?.kind ?? 'read';
    billable[kind === 'list' ? 'reads' : NAMES[first]] += 1;
    return;
  }
  // A query for keys alone is one read, however many it finds.
  if (kind === 'list') billable.reads += 1;
  else for (const access of accesses) billable[NAMES[access.kind]] += 1;
}

const NAMES = { read: 'reads', write: 'writes', delete: 'deletes' } as const;
