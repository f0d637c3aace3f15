// The contract of shared/store/contract/driver.ts as tests, the same for every driver:
// conformance(name, harness) declares them all.
import { afterAll, beforeAll, describe } from 'vitest';
import type { Driver } from '../../shared/store/contract/driver.ts';
import { listCases } from './cases/list.ts';
import { misuseCases } from './cases/misuse.ts';
import { partCases } from './cases/parts.ts';
import { requestCases } from './cases/requests.ts';
import { singleCases } from './cases/single.ts';
import type { Harness } from './harness.ts';

export function conformance(name: string, harness: Harness): void {
  // oxlint-disable-next-line vitest/valid-title -- each driver's test file names itself
  describe(name, () => {
    let driver: Driver | undefined;
    const opened = () => {
      if (driver === undefined) throw new Error('no driver is open');
      return driver;
    };
    beforeAll(async () => {
      driver = await harness.open();
    });
    afterAll(async () => {
      await driver?.close();
      await harness.end?.();
    });
    for (const cases of [singleCases, partCases, requestCases, listCases, misuseCases]) cases(harness, opened);
  });
}
