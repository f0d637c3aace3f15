// The contract of shared/store/contract/driver.ts as tests, the same for every driver:
// conformance(name, harness) declares them all.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { freshPrefix, type Around } from '../../shared/drivers/conformance/check-calls.ts';
import { CONFORMANCE } from '../../shared/drivers/conformance/run.ts';
import type { Driver } from '../../shared/store/contract/driver.ts';
import { datastoreAt, type Transport } from '../drivers/emulated.ts';

/** A promise that a back end does not keep; the check is skipped, and its title says so. */
interface Deviation {
  readonly check: string;
  readonly reason: string;
}

/** Opens drivers on one back end, which the tests close. */
interface Harness extends Around {
  /** Ends what `open` started. */
  end?(): Promise<void>;
  readonly deviations: readonly Deviation[];
}

export function conformance(name: string, harness: Harness): void {
  // oxlint-disable-next-line vitest/valid-title -- each driver's test file names itself
  describe(name, () => {
    let driver: Driver | undefined;
    beforeAll(async () => {
      driver = await harness.open();
    });
    afterAll(async () => {
      await driver?.close();
      await harness.end?.();
    });
    for (const check of CONFORMANCE) {
      const deviation = harness.deviations.find((one) => one.check === check.name);
      const title = deviation === undefined ? check.name : `${check.name} (declared deviation: ${deviation.reason})`;
      // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- checks hold both
      test.skipIf(deviation !== undefined)(title, () => check.run(driver!, freshPrefix(), harness));
    }
  });
}

/** On an emulator of Datastore; skipped without an endpoint, as Google's are not everywhere. */
export function conformanceOn(name: string, endpoint: string, transport: Transport): void {
  const settings = { projectId: 'stowage-test', namespace: 'conformance' };
  const open = () => datastoreAt(transport, endpoint, settings);
  describe.skipIf(endpoint === '')(`${name}, transport ${transport}`, () => {
    conformance('datastore', { open, isAtomic: false, deviations: [] });
  });
}
