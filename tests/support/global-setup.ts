// Starts the Datastore emulators once for all test files. CI fails if it must skip Google's.
import type { TestProject } from 'vitest/node';
import { startDatastoreEmulator } from '../../infra/emulators/datastore/index.ts';
import type { Emulator } from '../../infra/emulators/emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from '../../infra/emulators/google.ts';
import { onPath } from '../../infra/processes/on-path.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Endpoint of the embedded Datastore emulator, which is always there. */
    embeddedEndpoint: string;
    /** Endpoint of the Firestore emulator in Datastore mode; empty if it is skipped. */
    firestoreEndpoint: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const embedded = await startDatastoreEmulator();
  project.provide('embeddedEndpoint', `http://${embedded.address}`);
  const firestore = await start();
  project.provide('firestoreEndpoint', firestore?.endpoint ?? '');
  return async () => {
    await Promise.all([embedded.close(), firestore?.close()]);
  };
}

async function start(): Promise<Emulator | undefined> {
  if (process.env['STOWAGE_TEST_EMULATORS'] === 'none') return skip('STOWAGE_TEST_EMULATORS is none', 'unset it');
  const found = await findGoogleEmulator();
  return found.found ? startGoogleEmulator(found) : skip(found.why, found.howTo);
}

async function skip(why: string, howTo: string): Promise<undefined> {
  if (process.env['CI'] !== undefined && (await onPath('gcloud')) !== undefined)
    throw new Error(`the tests on Google's emulator may not be skipped here: ${why}; ${howTo}`);
  console.warn(`SKIPPED: the tests on Google's emulator: ${why}; to run them: ${howTo}`);
}
