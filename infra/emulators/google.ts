// Starts Google's Firestore emulator in Datastore mode by its jar, because the SDK's command leaves
// shells behind.
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { onPath } from '../processes/on-path.ts';
import { answersOk, freePort, startSupervised, untilReady } from '../processes/supervised.ts';
import type { Emulator } from './emulator.ts';

export type FoundEmulator =
  | { readonly found: true; readonly java: string; readonly jar: string }
  /** One that already runs, named by DATASTORE_EMULATOR_HOST. */
  | { readonly found: true; readonly endpoint: string };

export interface MissingEmulator {
  readonly found: false;
  readonly why: string;
  readonly howTo: string;
}

const NAME = 'Firestore emulator in Datastore mode';
const COMPONENT = 'cloud-firestore-emulator';
const JAR = 'cloud-firestore-emulator.jar';
const MAIN_CLASS = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore';
const HOW_TO = `install the Google Cloud SDK (https://cloud.google.com/sdk/docs/install) and Java 11 or newer, then run: gcloud components install ${COMPONENT} (with apt: apt-get install google-cloud-cli-firestore-emulator); or set DATASTORE_EMULATOR_HOST to one that runs`;

/** On a busy machine with two cores a JVM took 10 s. */
const READY_TIMEOUT_MS = 60_000;

/** Looks for the emulator without starting anything. */
export async function findGoogleEmulator(
  env: NodeJS.ProcessEnv = process.env,
): Promise<FoundEmulator | MissingEmulator> {
  const running = env['DATASTORE_EMULATOR_HOST'];
  if (running !== undefined && running !== '')
    return { found: true, endpoint: running.includes('://') ? running : `http://${running}` };
  const gcloud = await onPath('gcloud', env);
  if (gcloud === undefined) return missing(`no ${NAME}: gcloud is not on PATH`);
  const jar = path.resolve(path.dirname(await realpath(gcloud)), '..', 'platform', COMPONENT, JAR);
  if (!existsSync(jar)) return missing(`no ${NAME}: ${jar} does not exist`);
  const java = await onPath('java', env);
  if (java === undefined) return missing(`the ${NAME} needs java, which is not on PATH`);
  return { found: true, java, jar };
}

/** Port 0: a free one. Waits until it answers. Throws, with its output, after 60 s. */
export async function startGoogleEmulator(emulator: FoundEmulator, wantedPort = 0): Promise<Emulator> {
  if ('endpoint' in emulator)
    return { name: `emulator at ${emulator.endpoint}`, endpoint: emulator.endpoint, close: async () => {} };
  const port = await freePort(wantedPort);
  const options = ['--host=127.0.0.1', `--port=${port}`, '--database-mode=datastore-mode'];
  const { java, jar } = emulator;
  const child = startSupervised(java, ['-Duser.language=en', '-cp', jar, MAIN_CLASS, 'start', ...options]);
  const endpoint = `http://127.0.0.1:${port}`;
  await untilReady(`the ${NAME}`, child, () => answersOk(endpoint), READY_TIMEOUT_MS);
  return { name: NAME, endpoint, exited: child.exited, close: () => child.close() };
}

function missing(why: string): MissingEmulator {
  return { found: false, why, howTo: HOW_TO };
}
