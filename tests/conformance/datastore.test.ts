import { describe, inject } from 'vitest';
import { datastoreAt, TRANSPORTS } from '../drivers/emulated.ts';
import { conformance } from './conformance.ts';

// The legacy emulator ignores masks: there patches become reads and conditional writes of whole entities.
const EMULATORS = [
  ['embedded Datastore emulator', inject('embeddedEndpoint')],
  ['Firestore emulator in Datastore mode', inject('firestoreEndpoint')],
  ['legacy Datastore emulator', inject('legacyDatastoreEndpoint')],
] as const;

for (const [name, endpoint] of EMULATORS) {
  describe.skipIf(endpoint === '').each(TRANSPORTS)(`${name}, transport %s`, (transport) => {
    const open = () => datastoreAt(transport, endpoint, { projectId: 'stowage-test', namespace: 'conformance' });
    conformance('datastore', { open, atomic: false, deviations: [] });
  });
}
