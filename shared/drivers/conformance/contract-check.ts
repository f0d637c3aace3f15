// A check tries one promise of the contract (store/contract/driver.ts) on a driver, and throws if
// the driver breaks it. Tests and `stowage doctor` run the same checks.
import type { Driver, EntityId } from '../../store/contract/driver.ts';

/** The place behind a driver. */
export interface Around {
  /** Opens another driver on the same place; whoever opens it closes it. */
  open(): Driver | Promise<Driver>;
  /** Whether a failed request of several writes is all or nothing. */
  readonly isAtomic: boolean;
}

/** A check works on ids with a prefix of its own, so checks may run in any order or alone. */
export interface Check {
  /** The promise, in words. */
  readonly name: string;
  /** `prefix` is an id as well. Rejects with an error that says what was found and expected. */
  run(driver: Driver, prefix: EntityId, around: Around): Promise<void>;
}

export function check(name: string, run: Check['run']): Check {
  return { name, run };
}
