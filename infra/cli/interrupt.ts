// Ctrl-C of a command that has something to write, or to close, before it ends.
import { UsageError } from './command-options.ts';
import { EXIT } from './exit.ts';
import { warn, warnOf } from './print.ts';

/** A Ctrl-C reaches a command twice, also through npm: within this time it is the same one. */
export const SAME_INTERRUPT_MS = 1_000;

/** Calls `first` at the first of these signals. A second one ends the process at once. */
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

/** A first signal aborts `work`, and gives 130 once that has rejected. Other errors are thrown. */
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

/** As `untilInterrupted`, but prints an error and gives 1. A UsageError is thrown. */
export async function exitCodeOf(work: (signal: AbortSignal) => Promise<number | void>): Promise<number | void> {
  try {
    return await untilInterrupted(work);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warnOf(error);
    return EXIT.failed;
  }
}
