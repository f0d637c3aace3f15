import { inject } from 'vitest';
import { conformanceOn } from './datastore-emulators.ts';

conformanceOn('Firestore emulator in Datastore mode', inject('firestoreEndpoint'), 'sdk');
conformanceOn('legacy Datastore emulator', inject('legacyDatastoreEndpoint'), 'sdk');
