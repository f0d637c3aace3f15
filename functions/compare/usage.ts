// Usage of a store at its provider, from the counts of its driver.
import type { Provider } from '../../shared/lab/kit/dimensions.ts';
import type { Usage } from '../../shared/lab/kit/usage.ts';
import { billableOf } from '../../shared/lab/cost/billable.ts';
import type { DriverCounters } from '../../shared/drivers/measured.ts';

/** No retries beside the requests: the store repeats no write, and a repeated read is a request. */
export function storeUsage(provider: Provider, counters: DriverCounters): Usage {
  const { requests, billable } = billableOf(provider, counters);
  const { bytesWritten, bytesRead, refusedCondition: conflicts } = counters;
  return { requests, retries: {}, conflicts, billable: { ...billable }, bytesWritten, bytesRead };
}
