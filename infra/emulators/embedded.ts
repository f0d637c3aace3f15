// Starts this repository's Datastore emulator, in this process or its own.
import { fileURLToPath } from 'node:url';
import { startSupervised, untilReady } from '../processes/supervised.ts';
import { startDatastoreEmulator } from './datastore/index.ts';
import type { Emulator } from './emulator.ts';
import { behind, type Network, profileOf, slowCloud } from './emulated-network.ts';

export interface EmbeddedOptions {
  /** True shares this process and its thread (tests); false takes a process (all else). */
  readonly inProcess: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** A file that keeps the data. Default: memory alone. */
  readonly dataFile?: string | undefined;
  /** Default: none. */
  readonly network?: Network;
}

const NAME = 'embedded Datastore emulator';
const READY_TIMEOUT_MS = 30_000;
const ENTRY = fileURLToPath(new URL('embedded-process.ts', import.meta.url));
const ENDPOINT = /^listening on (http:\/\/127\.0\.0\.1:\d+) as process (\d+)$/m;

/** Rejects if it does not listen within 30 s. */
export async function startEmbeddedDatastore(options: EmbeddedOptions): Promise<Emulator> {
  const { inProcess, port = 0, dataFile, network = 'none' } = options;
  if (inProcess) {
    const cloud = network === 'none' ? undefined : slowCloud(profileOf(network, 'datastore'));
    const emulator = await startDatastoreEmulator({ port, dataFile, network: cloud });
    return { name: `${NAME} in process`, endpoint: `http://${emulator.address}`, close: () => emulator.close() };
  }
  const child = startSupervised(process.execPath, [
    ENTRY,
    `--port=${port}`,
    `--network=${network}`,
    ...(dataFile === undefined ? [] : [`--data=${dataFile}`]),
  ]);
  await untilReady(`the ${NAME}`, child, () => ENDPOINT.test(child.output()), READY_TIMEOUT_MS);
  const [, endpoint, processId] = ENDPOINT.exec(child.output())!;
  return {
    name: `${NAME}${behind(network)}`,
    endpoint: endpoint!,
    processId,
    exited: child.exited,
    close: () => child.close(),
  };
}
