// Starts Google's Datastore emulators (Java) by their jars: the SDK's commands leave shells behind.
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { exists, onPath } from '../processes/on-path.ts';
import { answersOk, freePort, startSupervised, untilReady } from '../processes/supervised.ts';
import type { Emulator } from './emulator.ts';

/** `firestore`: in Datastore mode, like the service. `datastore`: older, ignores masks. */
export type GoogleEmulatorKind = 'firestore' | 'datastore';

export type FoundEmulator =
  | { readonly found: true; readonly kind: GoogleEmulatorKind; readonly java: string; readonly jar: string }
  /** One that runs already, named by DATASTORE_EMULATOR_HOST. */
  | { readonly found: true; readonly kind: GoogleEmulatorKind; readonly endpoint: string };

export interface MissingEmulator {
  readonly found: false;
  readonly why: string;
  readonly howTo: string;
}

const EMULATORS = {
  firestore: {
    name: 'Firestore emulator in Datastore mode',
    component: 'cloud-firestore-emulator',
    jar: 'cloud-firestore-emulator.jar',
    mainClass: 'com.google.cloud.datastore.emulator.firestore.CloudFirestore',
  },
  datastore: {
    name: 'legacy Datastore emulator',
    component: 'cloud-datastore-emulator',
    jar: 'CloudDatastore.jar',
    mainClass: 'com.google.cloud.datastore.emulator.CloudDatastore',
  },
} as const;

/** A JVM on a busy machine of two cores was seen to need 10 s. */
const READY_TIMEOUT_MS = 60_000;

/** Looks for an emulator without starting anything. */
export async function findGoogleEmulator(
  kind: GoogleEmulatorKind,
  env: NodeJS.ProcessEnv = process.env,
): Promise<FoundEmulator | MissingEmulator> {
  const { name, component, jar } = EMULATORS[kind];
  const running = env['DATASTORE_EMULATOR_HOST'];
  if (kind === 'firestore' && running !== undefined && running !== '') {
    return { found: true, kind, endpoint: running.includes('://') ? running : `http://${running}` };
  }
  const howTo = `install the Google Cloud SDK (https://cloud.google.com/sdk/docs/install) and Java 11 or newer, then run: gcloud components install ${component} (with apt: apt-get install google-cloud-cli-${kind}-emulator); or set DATASTORE_EMULATOR_HOST to one that runs`;
  const gcloud = await onPath('gcloud', env);
  if (gcloud === undefined) return { found: false, why: `no ${name}: gcloud is not on PATH`, howTo };
  const jarPath = path.resolve(path.dirname(await realpath(gcloud)), '..', 'platform', component, jar);
  if (!(await exists(jarPath))) return { found: false, why: `no ${name}: ${jarPath} does not exist`, howTo };
  const java = await onPath('java', env);
  if (java === undefined) return { found: false, why: `the ${name} needs java, which is not on PATH`, howTo };
  return { found: true, kind, java, jar: jarPath };
}

/** Free port; waits until it answers. Throws, with its output, after 60 s. */
export async function startGoogleEmulator(emulator: FoundEmulator): Promise<Emulator> {
  const { name, mainClass } = EMULATORS[emulator.kind];
  if ('endpoint' in emulator)
    return { name: `emulator at ${emulator.endpoint}`, endpoint: emulator.endpoint, close: async () => {} };
  const port = await freePort();
  const folder = emulator.kind === 'datastore' ? await emptyProject() : undefined;
  const listen = ['start', '--host=127.0.0.1', `--port=${port}`];
  const mode =
    folder === undefined ? ['--database-mode=datastore-mode'] : ['--store_on_disk=False', '--consistency=1.0', folder];
  const child = startSupervised(emulator.java, [
    '-Duser.language=en',
    '-cp',
    emulator.jar,
    mainClass,
    ...listen,
    ...mode,
  ]);
  const endpoint = `http://127.0.0.1:${port}`;
  const close = async () => {
    await child.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(`the ${name}`, child, () => answersOk(endpoint), READY_TIMEOUT_MS);
  } catch (error) {
    await close();
    throw error;
  }
  return { name, endpoint, exited: child.exited, close };
}

/** As its `create` makes it: the legacy emulator needs one even when all is in memory. */
async function emptyProject(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'stowage-datastore-'));
  await mkdir(path.join(folder, 'WEB-INF'));
  await writeFile(path.join(folder, 'WEB-INF', 'index.yaml'), 'indexes:\n');
  return folder;
}
