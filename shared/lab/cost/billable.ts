// Billed operations of a driver's work: on Datastore entities, on Azure Tables requests.
import type { Provider } from '../kit/dimensions.ts';
import type { Usage } from '../kit/provider-usage.ts';
import type { DriverCounters } from '../../drivers/measured.ts';

/** Operations as the provider bills them; a list counts as a read. */
export type BillableOperations = Usage['billable'];

/** Requests sent and operations billed since the counters began. */
export function billableOf(
  provider: Provider,
  counters: DriverCounters,
): { readonly requests: number; readonly billable: BillableOperations } {
  const { readCalls, writeCalls, removeCalls, listCalls, entitiesAsked, removals } = counters;
  const reads = entitiesAsked + listCalls;
  if (provider === 'azure-tables')
    return {
      requests: reads + writeCalls + removals,
      billable: { reads, writes: writeCalls, deletes: removals },
    };
  return {
    requests: readCalls + writeCalls + removeCalls + listCalls,
    billable: { reads, writes: counters.inserts + counters.patches + counters.replaces, deletes: removals },
  };
}
