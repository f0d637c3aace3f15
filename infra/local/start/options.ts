// The flags of `npm start`.
import { parseArgs } from 'node:util';

export interface StartOptions {
  /** The whole ladder of 1 to 128 callers. */
  readonly full: boolean;
  /** Only keep everything up. */
  readonly dev: boolean;
  readonly help: boolean;
}

/** The command line is wrong; the message says how it should be. */
export class UsageError extends Error {}

export const HELP = `Runs both clouds' functions on this machine and compares three ways to store small records.

  npm start                the default comparison, about 2 minutes
  npm start -- --full      every number of callers from 1 to 128, about 20 minutes
  npm run dev              no comparison: keeps everything up, prints addresses and keys
  npm start -- --help      this text

The report goes to report/compare.json and report/compare.html.`;

/** Throws a UsageError. */
export function optionsOf(args: readonly string[]): StartOptions {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({ args: [...args], options: { full: flag, dev: flag, help: flag } });
    if (values.full && values.dev) throw new UsageError('--dev runs no comparison: leave out --full');
    return values;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`, { cause: error });
  }
}
