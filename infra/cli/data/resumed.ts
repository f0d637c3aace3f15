// Long work on many records: prints and saves how far it has come, and goes on from there when the
// same command runs again.
import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { StoreError } from '../../../shared/store/index.ts';
import { UsageError } from '../command-options.ts';
import { erase, say, warn } from '../print.ts';
import { progress } from '../progress.ts';
import { readText } from '../terminal-text.ts';
import { stateFile } from './export.ts';

export interface Resumed<State> {
  /** Holds how far the work has come; removed once all is done. */
  readonly file: string;
  /** What is worked on: a file of other work is refused. */
  readonly of: readonly string[];
  readonly shape: z.ZodType<State>;
  /** As in `5 records were copied`. */
  readonly done: string;
  /** The command that goes on. */
  readonly typed: string;
}

/** Gives the number of records. Throws a UsageError for a file that is no state of this work. */
export async function resumed<State extends { readonly records: number }>(
  { file, of, shape, done, typed }: Resumed<State>,
  work: (state: State | undefined, onState: (now: State) => Promise<void>) => Promise<number>,
): Promise<number> {
  const state = await savedIn(file, shape, of);
  const save = stateFile(file);
  const working = counted(
    (onProgress) =>
      work(state, async (now) => {
        await save({ of, state: now });
        onProgress(now.records);
      }),
    (sure) => `${sure} records ${done}. This goes on: ${typed}`,
  );
  const records = await goingOn(working, `remove ${file}, or name another by --state`);
  await rm(file, { force: true });
  say(`${records} records ${done}; comparing`);
  return records;
}

async function savedIn<State>(
  file: string,
  shape: z.ZodType<State>,
  of: readonly string[],
): Promise<State | undefined> {
  try {
    const saved = z.strictObject({ of: z.array(z.string()), state: shape }).parse(JSON.parse(await readText(file)));
    if (saved.of.join() === of.join()) return saved.state;
    throw new Error(`it is of ${saved.of.filter((part) => part !== '').join(' ')}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file} is no state of this command: name another file by --state`, { cause: error });
  }
}

/** Rejects with how to begin anew if a table is no longer the one that the work was begun with. */
export async function goingOn<T>(work: Promise<T>, anew: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // A cursor of another order is `invalid`.
    if (!(error instanceof StoreError) || !(error.code === 'conflict' || error.message.includes('cursor'))) throw error;
    const message = `the table ${error.table} was dropped and created again meanwhile: to begin anew, ${anew}`;
    throw new Error(message, { cause: error });
  }
}

/** Prints how far the work has come, and after a failure how many records are done. */
export async function counted<T>(
  work: (onProgress: (records: number, share?: number) => void) => Promise<T>,
  brokenOff: (records: number) => string,
): Promise<T> {
  let last = 0;
  const tell = progress();
  const onProgress = (records: number, share?: number): void => {
    last = records;
    tell(`${records} records`, share);
  };
  try {
    return await work(onProgress);
  } catch (error) {
    if (last > 0) warn(brokenOff(last));
    throw error;
  } finally {
    erase();
  }
}
