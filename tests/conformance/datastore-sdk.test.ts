import { inject } from 'vitest';
import { conformanceOn } from './datastore-emulators.ts';

conformanceOn('Firestore emulator in Datastore mode', inject('firestoreEndpoint'), 'sdk');
