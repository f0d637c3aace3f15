// Declares one case of the suite, or, where the back end deviates, skips it with the reason in its
// title.
import { test } from 'vitest';
import type { Driver, EntityId } from '../../shared/store/contract/driver.ts';
import { freshPrefix, type Harness } from './harness.ts';

/**
 * Names a case and says what must hold; `driver` is open and shared, `prefix` is the case's own,
 * and an id as well.
 */
export type Declare = (title: string, body: (driver: Driver, prefix: EntityId) => Promise<void>) => void;

export function declarer(harness: Harness, driver: () => Driver): Declare {
  return (title, body) => {
    const deviation = harness.deviations.find((entry) => entry.case === title);
    const shown = deviation === undefined ? title : `${title} (declared deviation: ${deviation.reason})`;
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- the cases hold both
    test.skipIf(deviation !== undefined)(shown, () => body(driver(), freshPrefix()));
  };
}
