// An emulator that can be made to throttle, deny, or fail before or after the effect.
import { startDatastoreEmulator } from '../../infra/emulators/datastore/index.ts';
import { startStrictAzurite } from '../../infra/emulators/azurite.ts';
import type { DriverName } from '../drivers/emulated.ts';
import type { Chance } from '../simulation/seeded-chance.ts';

export interface Place {
  readonly driver: DriverName;
  readonly port: number;
  /** The next few requests fail; says how. */
  fail(chance: Chance): string;
  /** None fails any more. */
  calm(): void;
  close(): Promise<void>;
}

/** Only answers that say nothing of a request's fate follow its effect. */
const DATASTORE_BEFORE = ['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'ABORTED', 'INTERNAL'] as const;
const DATASTORE_AFTER = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL'] as const;
const AZURE_BEFORE = [
  [503, 'ServerBusy'],
  [403, 'AuthorizationFailure'],
  [500, 'InternalError'],
] as const;
const AZURE_AFTER = [
  [500, 'InternalError'],
  [500, 'OperationTimedOut'],
] as const;
const TIMES_MAX = 6;

export async function datastorePlace(): Promise<Place> {
  const emulator = await startDatastoreEmulator();
  return {
    driver: 'datastore',
    port: Number(emulator.address.split(':')[1]),
    fail(chance) {
      const when = chance.of(['before', 'after'] as const);
      const code = when === 'before' ? chance.of(DATASTORE_BEFORE) : chance.of(DATASTORE_AFTER);
      emulator.faults.add({ code, when, times: 1 + chance.below(TIMES_MAX) });
      return `${code} ${when} the effect`;
    },
    calm: () => emulator.faults.clear(),
    close: () => emulator.close(),
  };
}

export async function azurePlace(): Promise<Place> {
  const azurite = await startStrictAzurite();
  const { endpoint, faults } = azurite;
  return {
    driver: 'azure-tables',
    port: Number(new URL(endpoint).port),
    fail(chance) {
      const when = chance.of(['before', 'after'] as const);
      const [status, code] = when === 'before' ? chance.of(AZURE_BEFORE) : chance.of(AZURE_AFTER);
      faults.add({ status, code, when, times: 1 + chance.below(TIMES_MAX) });
      return `${status} ${code} ${when} the effect`;
    },
    calm: () => faults.clear(),
    close: () => azurite.close(),
  };
}
