// A job that a signal or the end of npm may interrupt: it then closes what it started, in order.
import { onLauncherEnd } from '../processes/launcher.ts';

/** What shells expect after Ctrl-C. */
const EXIT_INTERRUPTED = 130;

/** Whatever cannot be closed in order in this time dies with this process: its supervisor sees to that. */
const CLOSE_TIMEOUT_MS = 3_000;

/** A wish to end, not a failure. */
class Interruption extends Error {}

/** Gives the exit code: what the job returns, 130 if it was interrupted, 1 if it failed, which is printed. Once a process. */
export async function runJob(
  job: (signal: AbortSignal) => Promise<number>,
  closeTimeoutMs: number = CLOSE_TIMEOUT_MS,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (by: string): void => {
    if (interrupted.signal.aborted) return;
    interrupted.abort(new Interruption(by));
    setTimeout(() => process.exit(EXIT_INTERRUPTED), closeTimeoutMs).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal));
  onLauncherEnd(() => interrupt('the end of npm'));
  try {
    return await job(interrupted.signal);
  } catch (error) {
    if (interrupted.signal.reason instanceof Interruption) {
      console.error(`\nended by ${interrupted.signal.reason.message}`);
      return EXIT_INTERRUPTED;
    }
    console.error(error);
    return 1;
  }
}
