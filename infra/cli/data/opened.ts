// A command's store, from its address to its end.
import type { Store } from '../../../shared/store/index.ts';
import { EXIT } from '../exit.ts';
import { untilInterrupted } from '../interrupt.ts';
import { UsageError } from '../options.ts';
import { askTool } from '../tools.ts';
import { storeAt } from './address.ts';

export const FROM = { value: 'STORE', help: 'where the table is; it must be given' };
export const TO = { value: 'STORE', help: 'where the records go; it must be given' };

/** Opens a store. Throws a UsageError without an address, or for what is none. */
export function opened(option: string, address: string | undefined): Store {
  if (address === undefined)
    throw new UsageError(`${option} is missing: gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE`);
  return storeAt(option, address, askTool, process.env);
}

/** Works on a store, and closes it. An error is printed in a line, and gives an exit code. */
export async function onStore(
  option: string,
  address: string | undefined,
  work: (store: Store, signal: AbortSignal) => Promise<void>,
): Promise<number | void> {
  try {
    return await untilInterrupted(async (signal) => {
      await using store = opened(option, address);
      await work(store, signal);
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    console.error(error instanceof Error ? error.message : error);
    return EXIT.failed;
  }
}
