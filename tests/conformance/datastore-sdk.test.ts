import { inject } from 'vitest';
import { conformanceOn } from './declare-conformance.ts';

conformanceOn('Firestore emulator in Datastore mode', inject('firestoreEndpoint'), 'sdk');
