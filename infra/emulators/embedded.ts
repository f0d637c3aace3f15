// Starts this repository's Datastore emulator, in this process or its own.
import { fileURLToPath } from 'node:url';
import { startSupervised, untilReady } from '../processes/supervised.ts';
import { startDatastoreEmulator } from './datastore/index.ts';
import type { Emulator } from './emulator.ts';

export interface EmbeddedOptions {
  /** True shares this process and its thread (tests); false takes a process (all else). */
  readonly inProcess: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** A file that keeps the data. Default: memory alone. */
  readonly dataFile?: string | undefined;
}

const NAME = 'embedded Datastore emulator';
const READY_TIMEOUT_MS = 30_000;
const ENTRY = fileURLToPath(new URL('datastore/main.ts', import.meta.url));
const ADDRESS = /^export DATASTORE_EMULATOR_HOST=(127\.0\.0\.1:\d+)$/m;

/** Rejects if it does not listen within 30 s. */
export async function startEmbeddedDatastore({ inProcess, port = 0, dataFile }: EmbeddedOptions): Promise<Emulator> {
  if (inProcess) {
    const emulator = await startDatastoreEmulator({ port, dataFile });
    return { name: `${NAME} in process`, endpoint: `http://${emulator.address}`, close: () => emulator.close() };
  }
  const child = startSupervised(process.execPath, [
    ENTRY,
    `--port=${port}`,
    ...(dataFile === undefined ? [] : [`--data=${dataFile}`]),
  ]);
  await untilReady(`the ${NAME}`, child, () => ADDRESS.test(child.output()), READY_TIMEOUT_MS);
  const endpoint = `http://${ADDRESS.exec(child.output())?.[1]}`;
  return { name: NAME, endpoint, exited: child.exited, close: () => child.close() };
}
