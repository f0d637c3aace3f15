// Counters of a modelled service, and of its bill.
import type { ModelRequest, Reply } from './request.ts';

/** Running totals. */
export interface ServiceCounters {
  /** Requests sent, those that failed included. */
  requests: number;
  /** Refused for their rate (503, RESOURCE_EXHAUSTED). */
  throttled: number;
  /** Given up for a lock (ABORTED). */
  contended: number;
  /** Conditions that did not hold (412, 409, FAILED_PRECONDITION). */
  conflicts: number;
  /** Failed with a broken connection. */
  lost: number;
  timedOut: number;
  /** Billed operations: on Datastore entities, on Azure requests. */
  readonly billable: { reads: number; writes: number; deletes: number };
  bytesRead: number;
  bytesWritten: number;
}

export function noCounts(): ServiceCounters {
  return {
    requests: 0,
    throttled: 0,
    contended: 0,
    conflicts: 0,
    lost: 0,
    timedOut: 0,
    billable: { reads: 0, writes: 0, deletes: 0 },
    bytesRead: 0,
    bytesWritten: 0,
  };
}

/** Neither provider says that a failed condition is free, so it is counted. */
export function countServed(
  counters: ServiceCounters,
  provider: 'datastore' | 'azure-tables',
  { kind, accesses }: ModelRequest,
  reply: Reply,
): void {
  if (reply.isRefused) counters.conflicts += 1;
  counters.bytesRead += reply.bytes;
  for (const { bytes } of accesses) counters.bytesWritten += bytes;
  const { billable } = counters;
  const isQuery = kind === 'list' || kind === 'query';
  if (provider === 'azure-tables') {
    const first = accesses[0]?.kind ?? 'read';
    billable[isQuery ? 'reads' : NAMES[first]] += 1;
    return;
  }
  // A query for keys alone is one read, however many it finds.
  if (isQuery) billable.reads += kind === 'query' ? Math.max(1, reply.entities) : 1;
  else for (const access of accesses) billable[NAMES[access.kind]] += 1;
}

const NAMES = { read: 'reads', write: 'writes', delete: 'deletes' } as const;
