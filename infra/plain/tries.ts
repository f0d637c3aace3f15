// Sends reads, and writes that may be repeated, again if the service did not answer.
import { setTimeout as sleep } from 'node:timers/promises';

const TRIES_MAX = 8;
const PAUSE_FIRST_MS = 200;

/** Throws the last error, or at once one that is not transient. */
export async function withTries<T>(
  send: () => Promise<T>,
  signal: AbortSignal,
  isTransient: (error: unknown) => boolean,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      if (tries === TRIES_MAX || !isTransient(error)) throw error;
      await sleep(PAUSE_FIRST_MS * 2 ** (tries - 1), undefined, { signal });
    }
  }
}
