import { inject } from 'vitest';
import { TRANSPORTS } from '../drivers/emulated.ts';
import { conformanceOn } from './declare-conformance.ts';

for (const transport of TRANSPORTS) conformanceOn('embedded Datastore emulator', inject('embeddedEndpoint'), transport);
conformanceOn('Firestore emulator in Datastore mode', inject('firestoreEndpoint'), 'own');
