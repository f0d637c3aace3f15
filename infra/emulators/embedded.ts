// Starts this repository's Datastore emulator, in this process or its own.
import { startDatastoreEmulator } from './datastore/index.ts';
import { dataOption, type Emulator, startProcess } from './emulator.ts';
import { behind, type Network, NO_NETWORK, slowCloud } from './emulated-network.ts';

export interface EmbeddedOptions {
  /** True: in this process and its thread, for tests. False: in a process of its own. */
  readonly inProcess: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** A file that keeps the data. Default: memory alone. */
  readonly dataFile?: string | undefined;
  /** Default: none. */
  readonly network?: Network;
}

const NAME = 'embedded Datastore emulator';

export async function startEmbeddedDatastore(options: EmbeddedOptions): Promise<Emulator> {
  const { inProcess, port = 0, dataFile, network = NO_NETWORK } = options;
  if (inProcess) {
    const cloud = network.name === 'none' ? undefined : slowCloud(network.profiles.datastore);
    const emulator = await startDatastoreEmulator({ port, dataFile, network: cloud });
    return { name: `${NAME} in process`, endpoint: `http://${emulator.address}`, close: () => emulator.close() };
  }
  const given = [`--port=${port}`, `--network=${JSON.stringify(network)}`, ...dataOption(dataFile)];
  return await startProcess(`${NAME}${behind(network)}`, 'embedded-process.ts', given);
}
