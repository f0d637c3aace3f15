// Ctrl-C of a command that has something to write, or to close, before it ends.
import { EXIT } from './exit.ts';
import { warn, warnOf } from './print.ts';

/**
 * A terminal's Ctrl-C reaches a command twice, through npm too: what comes within this time is the
 * same.
 */
export const SAME_INTERRUPT_MS = 1_000;

/**
 * Tells of the first of these signals. A second one ends the process at once, unless it is the same
 * Ctrl-C once more.
 */
export function onSignals(names: readonly NodeJS.Signals[], first: (name: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  const hear = (name: NodeJS.Signals): void => {
    const nowMs = performance.now();
    if (firstMs === undefined) {
      firstMs = nowMs;
      first(name);
    } else if (nowMs - firstMs > SAME_INTERRUPT_MS) process.exit(EXIT.interrupted);
  };
  for (const name of names) process.on(name, hear);
}

/** Aborts at the first SIGINT or SIGTERM. A second one ends the process at once. */
export function interrupted(warn: (line: string) => void): AbortSignal {
  const controller = new AbortController();
  onSignals(['SIGINT', 'SIGTERM'], () => {
    warn('');
    warn('Ending: what was made is removed, then the report is written. Ctrl-C again ends at once, without either.');
    controller.abort(new Error('ended by Ctrl-C'));
  });
  return controller.signal;
}

/**
 * A signal aborts `work`; once it has rejected, the exit code is 130. A second signal ends the
 * process at once. Other errors are thrown.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<number | void>): Promise<number | void> {
  const controller = new AbortController();
  onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], (name) => controller.abort(new Error(`ended by ${name}`)));
  try {
    return await work(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    warn('');
    warnOf(controller.signal.reason);
    return EXIT.interrupted;
  }
}
