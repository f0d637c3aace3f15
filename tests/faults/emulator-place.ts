// An emulator that can be made to throttle, deny, or fail before or after the effect.
import { startDatastoreEmulator } from '../../infra/emulators/datastore/index.ts';
import { startStrictAzurite } from '../../infra/emulators/azurite.ts';
import { failingNetwork } from '../support/failing-network.ts';
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

/** What a request is refused with before its effect. After it, the reply is lost. */
const DATASTORE = ['RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'ABORTED', 'INTERNAL', 'DEADLINE_EXCEEDED'] as const;
const AZURE = [
  { status: 503, code: 'ServerBusy' },
  { status: 403, code: 'AuthorizationFailure' },
  { status: 500, code: 'InternalError' },
  { status: 500, code: 'OperationTimedOut' },
] as const;
const TIMES_MAX = 6;

export async function datastorePlace(): Promise<Place> {
  const { network, ...failing } = failingPlace(DATASTORE);
  const emulator = await startDatastoreEmulator({ network });
  const port = Number(emulator.address.split(':')[1]);
  return { driver: 'datastore', port, ...failing, close: () => emulator.close() };
}

export async function azurePlace(): Promise<Place> {
  const { network, ...failing } = failingPlace(AZURE);
  const azurite = await startStrictAzurite({ network });
  const port = Number(new URL(azurite.endpoint).port);
  return { driver: 'azure-tables', port, ...failing, close: () => azurite.close() };
}

function failingPlace<Refusal>(refusals: readonly Refusal[]) {
  const network = failingNetwork<Refusal>();
  return {
    network,
    fail(chance: Chance): string {
      const when = chance.of(['before', 'after'] as const);
      const failure = when === 'before' ? { refusal: chance.of(refusals) } : { isReplyLost: true };
      network.fail(failure, { times: 1 + chance.below(TIMES_MAX) });
      return `${JSON.stringify(failure)} ${when} the effect`;
    },
    calm: network.calm,
  };
}
