// The short form of `stowage doctor`, with the function's own identity and network, which whoever
// deploys it does not have.
import { entityId, freshPrefix } from '../../shared/drivers/conformance/check-calls.ts';
import { SHORT, type Broken, brokenAmong, reasonOf, removeAll } from '../../shared/drivers/conformance/run.ts';
import type { Driver } from '../../shared/store/index.ts';

type Transport = 'own' | 'sdk';

export interface ShortExamination {
  /** How many promises of the driver contract were tried. */
  readonly checks: number;
  readonly broken: readonly Broken[];
}

/** Tries the driver over this transport. Rejects with the signal's reason. */
export type Examine = (transport: Transport, signal: AbortSignal) => Promise<ShortExamination>;

/** `isAtomic`: whether a failed request of several writes is all or nothing. */
export function examineOver(driverOver: (transport: Transport) => Promise<Driver>, isAtomic: boolean): Examine {
  return async (transport, signal) => {
    const driver = await driverOver(transport);
    const run = `doctor-${freshPrefix()}`;
    const around = { isAtomic, open: () => driverOver(transport) };
    const prefixOf = () => entityId(`${run}${freshPrefix()}`);
    try {
      const broken = await brokenAmong(SHORT, driver, around, { signal, prefixOf });
      return { checks: SHORT.length, broken: [...broken, ...(await leftBy(driver, run))] };
    } catch (error) {
      await leftBy(driver, run);
      throw error;
    } finally {
      await driver.close();
    }
  };
}

/** Removes what the checks wrote. If that fails, a promise is broken too. */
async function leftBy(driver: Driver, run: string): Promise<Broken[]> {
  try {
    await removeAll(driver, run);
    return [];
  } catch (error) {
    return [{ check: 'what was written can be listed and removed', why: reasonOf(error) }];
  }
}
