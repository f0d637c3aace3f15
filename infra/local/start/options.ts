// The flags of `npm start`.
import { parseArgs } from 'node:util';

export interface StartOptions {
  /** The whole ladder of 1 to 128 callers. */
  readonly full: boolean;
  /** Only keep everything up. */
  readonly dev: boolean;
  readonly help: boolean;
  /** Which Datastore emulator: the one in this repository, or Google's, which needs gcloud and Java. */
  readonly datastore: 'embedded' | 'google';
}

/** The command line is wrong; the message says how it should be. */
export class UsageError extends Error {}

export const HELP = `Runs both clouds' functions on this machine and compares three ways to store small records.

  npm start                the default comparison, about 2 minutes
  npm start -- --full      every number of callers from 1 to 128, about 20 minutes
  npm run dev              no comparison: keeps everything up, prints addresses and keys
  npm start -- --datastore=google   Google's Firestore emulator in place of the embedded one (needs gcloud and Java)
  npm start -- --help      this text

The report goes to report/compare.json and report/compare.html.`;

/** Throws a UsageError. */
export function optionsOf(args: readonly string[]): StartOptions {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const datastoreFlag = { type: 'string', default: 'embedded' } as const;
    const options = { full: flag, dev: flag, help: flag, datastore: datastoreFlag };
    const { values } = parseArgs({ args: [...args], options });
    const { datastore } = values;
    if (values.full && values.dev) throw new UsageError('--dev runs no comparison: leave out --full');
    if (datastore !== 'embedded' && datastore !== 'google')
      throw new UsageError(`--datastore is "embedded" or "google", not "${datastore}"`);
    return { ...values, datastore };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`, { cause: error });
  }
}
