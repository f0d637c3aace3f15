// The suite on an emulator of Datastore.
import { describe } from 'vitest';
import { datastoreAt, type Transport } from '../drivers/emulated.ts';
import { conformance } from './declare-conformance.ts';

/** Skipped without an endpoint: Google's emulators are not everywhere. */
export function conformanceOn(name: string, endpoint: string, transport: Transport): void {
  const settings = { projectId: 'stowage-test', namespace: 'conformance' };
  const open = () => datastoreAt(transport, endpoint, settings);
  describe.skipIf(endpoint === '')(`${name}, transport ${transport}`, () => {
    conformance('datastore', { open, isAtomic: false, deviations: [] });
  });
}
