// What lives as long as the instance: made at its first use, closed when the platform asks the instance to go.

/** Makes the thing once, at the first call; a failure is forgotten, so that the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Platforms give some ten seconds between SIGTERM and SIGKILL; the store's close takes at most five. */
const CLOSE_TIMEOUT_MS = 8_000;

/**
 * On SIGTERM closes, then exits. Takes the place of the listeners that are there: the functions-framework's own exits at once, with
 * requests open. So it is to be called when the framework has registered its own: at the first request.
 */
export function closeOnSigterm(close: () => Promise<void>): void {
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', () => {
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref();
    close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
