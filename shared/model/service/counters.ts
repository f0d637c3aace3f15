// What passed through a modelled service, and what its provider would bill for it.

/** Running totals. */
export interface ServiceCounters {
  /** Requests sent, those that failed included. */
  requests: number;
  /** Refused for rate (503, RESOURCE_EXHAUSTED). */
  throttled: number;
  /** Given up for a lock (ABORTED). */
  contended: number;
  /** Conditions that did not hold (412, 409, FAILED_PRECONDITION). */
  conflicts: number;
  lost: number;
  timedOut: number;
  /** Billed operations: Datastore counts entities, Azure requests. */
  readonly billable: { reads: number; writes: number; deletes: number };
  bytesRead: number;
  bytesWritten: number;
}

export function emptyCounters(): ServiceCounters {
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
