// The option `--datastore` of all commands that start a Datastore emulator, and its two emulators.
import { choice, UsageError } from '../cli/command-options.ts';
import { type Emulator, type ProcessOptions, startProcess } from './emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from './google.ts';
import { type Network, networkOf, NO_NETWORK } from './emulated-network.ts';

export type DatastoreName = 'embedded' | 'google';

export const DATASTORE = {
  value: 'embedded|google',
  default: 'embedded',
  help: "which Datastore emulator; Google's answers all queries, and needs gcloud and Java",
} as const;

/** Throws a UsageError. */
export function datastoreOf(text: string): DatastoreName {
  return choice('--datastore', text, ['embedded', 'google']);
}

/** `--network`, or else the default. Google's emulator is never late, so then neither cloud is. */
export function networkBefore(name: DatastoreName, text: string | undefined, byDefault: 'cloud' | 'none'): Network {
  if (name === 'embedded') return networkOf(text ?? byDefault);
  if (text !== undefined && text !== 'none')
    throw new UsageError("--network does not go with --datastore google: Google's emulator always answers at once");
  return NO_NETWORK;
}

/** Starts a process. If Google's emulator is missing, the error tells how to install it. */
export async function startDatastore(name: DatastoreName, options: ProcessOptions): Promise<Emulator> {
  if (name === 'embedded') return await startProcess('datastore', 'embedded Datastore emulator', options);
  const found = await findGoogleEmulator();
  if (!found.found) throw new Error(`${found.why}. Leave out --datastore=google, or: ${found.howTo}`);
  return await startGoogleEmulator(found, options.port);
}
