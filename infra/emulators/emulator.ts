// The interface of every emulator, and how one starts in a process of its own.
import { fileURLToPath } from 'node:url';
import { startSupervised, untilReady } from '../processes/supervised.ts';

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

const READY_TIMEOUT_MS = 60_000;
const ADDRESS = /^listening on (http:\/\/127\.0\.0\.1:\d+\S*) as process (\d+)$/m;

/** Starts a file of this folder. Rejects if it does not say within a minute where it listens. */
export async function startProcess(name: string, file: string, options: readonly string[]): Promise<Emulator> {
  const child = startSupervised(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...options]);
  await untilReady(name, child, () => ADDRESS.test(child.output()), READY_TIMEOUT_MS);
  const [, endpoint, processId] = ADDRESS.exec(child.output())!;
  return { name, endpoint: endpoint!, processId, exited: child.exited, close: () => child.close() };
}

/** The option by which both processes are told of a file. */
export function dataOption(dataFile: string | undefined): string[] {
  return dataFile === undefined ? [] : [`--data=${dataFile}`];
}
