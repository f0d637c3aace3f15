// A store whose requests and billed operations are counted at its driver.
import type { Provider } from '../../shared/compare/dimensions.ts';
import { billableOf } from '../../shared/cost/billable.ts';
import { measured } from '../../shared/drivers/measured.ts';
import { type Driver, openStore, type Store, type StoreOptions } from '../../shared/store/index.ts';
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

/** The driver with smaller entities: the engine fills them as it fills those of a provider that takes no larger ones. */
export function withEntityBytesMax(driver: Driver, entityBytesMax: number): Driver {
  return {
    limits: { ...driver.limits, entityBytesMax },
    read: (requests, options) => driver.read(requests, options),
    write: (writes, options) => driver.write(writes, options),
    remove: (removals, options) => driver.remove(removals, options),
    list: (prefix, cursor, count, options) => driver.list(prefix, cursor, count, options),
    close: () => driver.close(),
  };
}
