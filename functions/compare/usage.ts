// What a store spent at its provider, from the counts of its driver. What is sent and billed differs: Datastore takes many entities in one
// request and bills entities, Azure Table Storage answers single reads and removals and bills requests.
import type { Usage } from '../../shared/compare/usage.ts';
import type { DriverCounters } from '../../shared/drivers/measured.ts';

/** Running totals. The store never repeats a write, and a repeated read is a request like any other: there are no retries beside the requests. */
export function datastoreUsage(counters: DriverCounters): Usage {
  const { readCalls, writeCalls, removeCalls, listCalls, inserts, patches, replaces } = counters;
  return {
    requests: readCalls + writeCalls + removeCalls + listCalls,
    retries: 0,
    billable: {
      reads: counters.entitiesAsked + listCalls,
      writes: inserts + patches + replaces,
      deletes: counters.removals,
    },
    bytesWritten: counters.bytesWritten,
    bytesRead: counters.bytesRead,
  };
}

/** Running totals, as `datastoreUsage`. */
export function azureTablesUsage(counters: DriverCounters): Usage {
  const { entitiesAsked, writeCalls, removals, listCalls } = counters;
  return {
    requests: entitiesAsked + writeCalls + removals + listCalls,
    retries: 0,
    billable: { reads: entitiesAsked + listCalls, writes: writeCalls, deletes: removals },
    bytesWritten: counters.bytesWritten,
    bytesRead: counters.bytesRead,
  };
}
