// Things made at their first use, and closed when the platform ends the instance.
import { spansSent } from '../http/otlp.ts';

/** Makes the thing at the first call. A failure is forgotten: the next call tries again. */
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

/** Closes, which ends the last spans, and waits until these are sent. */
export async function closeWithSpans(close: () => Promise<void>): Promise<void> {
  try {
    await close();
  } finally {
    await spansSent();
  }
}

/** Platforms wait ten seconds from SIGTERM to SIGKILL; the close takes five at most, spans two. */
const CLOSE_TIMEOUT_MS = 8_000;

/**
 * Removes other listeners: the functions-framework's own exits at once, with requests open.
 * Call it at the first request, after the framework registered its own.
 */
export function closeOnSigterm(close: () => Promise<void>): void {
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', () => {
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref();
    closeWithSpans(close).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
