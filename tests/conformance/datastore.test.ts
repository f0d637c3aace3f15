import { describe, inject } from 'vitest';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { conformance } from './conformance.ts';

const embedded = inject('embeddedEndpoint');
const firestore = inject('firestoreEndpoint');
const legacy = inject('legacyDatastoreEndpoint');

function driverAt(endpoint: string) {
  return datastoreDriver({ projectId: 'stowage-test', namespace: 'conformance', endpoint });
}

describe('embedded Datastore emulator', () => {
  conformance('datastore', { open: () => driverAt(embedded), atomic: false, deviations: [] });
});

describe.skipIf(firestore === '')('Firestore emulator in Datastore mode', () => {
  conformance('datastore', { open: () => driverAt(firestore), atomic: false, deviations: [] });
});

// This emulator ignores masks: the driver's probe finds out, and patches become reads and conditional writes of whole entities.
describe.skipIf(legacy === '')('legacy Datastore emulator', () => {
  conformance('datastore', { open: () => driverAt(legacy), atomic: false, deviations: [] });
});
