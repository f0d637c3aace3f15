// Ctrl-C of a command that has something to write before it ends.

const EXIT_INTERRUPTED = 130;

/** A terminal's Ctrl-C reaches a command twice, through npm too: what comes within this time is the same. */
export const SAME_INTERRUPT_MS = 1_000;

/** Aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function interrupted(warn: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  let firstMs: number | undefined;
  const interrupt = (): void => {
    const nowMs = performance.now();
    firstMs ??= nowMs;
    if (nowMs - firstMs > SAME_INTERRUPT_MS) process.exit(EXIT_INTERRUPTED);
    if (controller.signal.aborted) return;
    warn('\nEnding: what was made is removed, then the report is written. Ctrl-C again ends at once, without either.');
    controller.abort(new Error('ended by Ctrl-C'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  return controller.signal;
}
