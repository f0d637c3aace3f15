// Runs a job that a signal or the end of npm interrupts, so that it closes its processes in order.
import { EXIT } from '../cli/exit.ts';
import { onSignals } from '../cli/interrupt.ts';
import { onLauncherEnd } from '../processes/launcher.ts';

/** After this time the process exits, and the supervisors kill the children that are left. */
const CLOSE_TIMEOUT_MS = 3_000;

/** Gives the job's own code, 130 if interrupted, 1 if it threw. A second Ctrl-C ends at once. */
export async function runJob(
  job: (signal: AbortSignal) => Promise<number>,
  closeTimeoutMs: number = CLOSE_TIMEOUT_MS,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (by: string): void => {
    interrupted.abort(new Error(`ended by ${by}`));
    setTimeout(() => process.exit(EXIT.interrupted), closeTimeoutMs).unref();
  };
  onSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], interrupt);
  onLauncherEnd(() => interrupt('the end of npm'));
  try {
    return await job(interrupted.signal);
  } catch (error) {
    console.error(interrupted.signal.aborted ? `\n${(interrupted.signal.reason as Error).message}` : error);
    return interrupted.signal.aborted ? EXIT.interrupted : EXIT.failed;
  }
}
