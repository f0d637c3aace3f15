// Splits writes into requests, and sends requests that may be repeated again after a failure.
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

/** Lists of at most `itemsMax`, and of at most `bytesMax` unless one item alone has more. */
export function* requestsOf<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  { itemsMax, bytesMax }: { readonly itemsMax: number; readonly bytesMax: number },
): Generator<Item[]> {
  let some: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (some.length === itemsMax || (some.length > 0 && bytes + size > bytesMax)) {
      yield some;
      [some, bytes] = [[], 0];
    }
    some.push(item);
    bytes += size;
  }
  if (some.length > 0) yield some;
}
