// Starts the embedded Datastore emulator once for all test files, and Google's two where this
// machine has them. CI fails if it must skip those.
import type { TestProject } from 'vitest/node';
import { startDatastoreEmulator } from '../../infra/emulators/datastore/index.ts';
import type { Emulator } from '../../infra/emulators/emulator.ts';
import { findGoogleEmulator, type GoogleEmulatorKind, startGoogleEmulator } from '../../infra/emulators/google.ts';
import { onPath } from '../../infra/processes/on-path.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoint of the embedded Datastore emulator, which is always there. */
    embeddedEndpoint: string;
    /** Endpoint of the Firestore emulator in Datastore mode; empty if it is skipped. */
    firestoreEndpoint: string;
    /** Endpoint of the legacy Datastore emulator; empty if it is skipped. */
    legacyDatastoreEndpoint: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const embedded = await startDatastoreEmulator();
  project.provide('embeddedEndpoint', `http://${embedded.address}`);
  const [firestore, datastore] = await Promise.all([start('firestore'), start('datastore')]);
  project.provide('firestoreEndpoint', firestore?.endpoint ?? '');
  project.provide('legacyDatastoreEndpoint', datastore?.endpoint ?? '');
  return async () => {
    await Promise.all([embedded.close(), firestore?.close(), datastore?.close()]);
  };
}

async function start(kind: GoogleEmulatorKind): Promise<Emulator | undefined> {
  if (process.env['STOWAGE_TEST_EMULATORS'] === 'none') return skip(kind, 'STOWAGE_TEST_EMULATORS is none', 'unset it');
  const found = await findGoogleEmulator(kind);
  return found.found ? startGoogleEmulator(found) : skip(kind, found.why, found.howTo);
}

async function skip(kind: GoogleEmulatorKind, why: string, howTo: string): Promise<undefined> {
  if (process.env['CI'] !== undefined && (await onPath('gcloud')) !== undefined) {
    throw new Error(`the tests on the ${kind} emulator may not be skipped here: ${why}; ${howTo}`);
  }
  console.warn(`SKIPPED: the tests on the ${kind} emulator: ${why}; to run them: ${howTo}`);
}
