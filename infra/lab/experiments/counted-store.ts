// A store whose requests and billed operations are counted at its driver.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { billableOf } from '../../../shared/lab/cost/billable.ts';
import { measured } from '../../../shared/drivers/measured.ts';
import { type Driver, openStore, type Store, type StoreOptions } from '../../../shared/store/index.ts';
import type { Spent } from './plain-sdk/plain-sdk.ts';

export interface CountedStore {
  readonly store: Store;
  /** Running totals, those of opening a table included. */
  spent(): Spent;
}

/** Closing the store closes the driver. */
export function countedStore(
  billedAs: Provider,
  driver: Driver,
  options: Omit<StoreOptions, 'driver'> = {},
): CountedStore {
  const { driver: counting, counters } = measured(driver);
  return { store: openStore({ ...options, driver: counting }), spent: () => billableOf(billedAs, counters) };
}
