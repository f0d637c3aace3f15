// The interface of every emulator, and how one starts in a process of its own.
import { fileURLToPath } from 'node:url';
import { startSupervised, untilReady } from '../processes/supervised.ts';
import { type Network, NO_NETWORK } from './emulated-network.ts';

/** An emulator that is ready, on 127.0.0.1. */
export interface Emulator {
  /** Name and kind, for people. */
  readonly name: string;
  /** `http://127.0.0.1:port` of the service, for Azurite with the account's path. */
  readonly endpoint: string;
  /** Of a process of its own whose first thread does the work; else undefined. */
  readonly processId?: string | undefined;
  /** Resolves when the emulator's own process, if it has one, has ended. */
  readonly exited?: Promise<unknown>;
  /** Waits for its end. Idempotent. An emulator that was running before stays. */
  close(): Promise<void>;
}

const PROCESS = fileURLToPath(new URL('emulator-process.ts', import.meta.url));
const READY_TIMEOUT_MS = 60_000;
const ADDRESS = /^listening on (http:\/\/127\.0\.0\.1:\d+\S*) as process (\d+)$/m;

export interface ProcessOptions {
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Default: none. */
  readonly network?: Network | undefined;
  /** A file that keeps the data. Default: memory alone. */
  readonly dataFile?: string | undefined;
}

/** Starts an emulator. Rejects if it does not say within a minute where it listens. */
export async function startProcess(
  kind: 'datastore' | 'azurite' | 'strict-azurite',
  emulator: string,
  { port = 0, network = NO_NETWORK, dataFile }: ProcessOptions,
): Promise<Emulator> {
  const name = network.name === 'none' ? emulator : `${emulator} behind a network (${network.name})`;
  const data = dataFile === undefined ? [] : [`--data=${dataFile}`];
  const args = [PROCESS, kind, `--port=${port}`, `--network=${JSON.stringify(network)}`, ...data];
  const child = startSupervised(process.execPath, args);
  await untilReady(name, child, () => ADDRESS.test(child.output()), READY_TIMEOUT_MS);
  const [, endpoint, processId] = ADDRESS.exec(child.output())!;
  return { name, endpoint: endpoint!, processId, exited: child.exited, close: () => child.close() };
}
