// What work costs: time, time of the processor, requests, operations that are billed.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { type Spent, spentSince } from './plain-sdk/plain-sdk.ts';
import { type Numbers, type Taken, taken } from './rounds.ts';

export interface Cost extends Taken {
  readonly spent: Spent;
}

/** What `work` costs, of what is sent through `spender` as a whole. */
export async function costOf(spender: { spent(): Spent }, work: () => Promise<unknown>): Promise<Cost> {
  const before = spender.spent();
  const took = await taken(work);
  return { ...took, spent: spentSince(spender.spent(), before) };
}

/** The numbers of the measures `SPENT` in one provider's columns, for one of so many like pieces of the work. */
export function spentNumbers(provider: Provider, { cpuMs, spent }: Cost, pieces: number): Numbers {
  const { reads, writes, deletes } = spent.billable;
  return {
    [`${provider}-requests`]: spent.requests / pieces,
    [`${provider}-billed`]: (reads + writes + deletes) / pieces,
    [`${provider}-cpu`]: cpuMs / pieces,
  };
}
