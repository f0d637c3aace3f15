// The option `--datastore` of all commands that start a Datastore emulator, and what it starts.
import { choice } from '../cli/options.ts';
import { startEmbeddedDatastore } from './embedded.ts';
import type { Emulator } from './emulator.ts';
import { findGoogleEmulator, startGoogleEmulator } from './google.ts';

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

/** In a process of its own. Throws how to install Google's if that is missing. */
export async function startDatastore(
  name: DatastoreName,
  { port = 0, dataFile }: { readonly port?: number; readonly dataFile?: string | undefined },
): Promise<Emulator> {
  if (name === 'embedded') return await startEmbeddedDatastore({ inProcess: false, port, dataFile });
  const found = await findGoogleEmulator();
  if (!found.found) throw new Error(`${found.why}. Leave out --datastore=google, or: ${found.howTo}`);
  return await startGoogleEmulator(found, port);
}
