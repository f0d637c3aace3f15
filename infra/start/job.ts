// Runs a job that a signal or npm's end interrupts; it then closes its processes in order.
import { SAME_INTERRUPT_MS } from '../cli/interrupt.ts';
import { onLauncherEnd } from '../processes/launcher.ts';

/** Shells expect this after Ctrl-C. */
const EXIT_INTERRUPTED = 130;

/** Then the process exits, and the supervisors kill the children that are left. */
const CLOSE_TIMEOUT_MS = 3_000;

/** The reason of an abort that is no failure. */
class Interruption extends Error {}

/** Gives the job's own code, 130 if interrupted, 1 if it threw. A second Ctrl-C ends at once. */
export async function runJob(
  job: (signal: AbortSignal) => Promise<number>,
  closeTimeoutMs: number = CLOSE_TIMEOUT_MS,
): Promise<number> {
  const interrupted = new AbortController();
  let firstMs = 0;
  const interrupt = (by: string): void => {
    if (interrupted.signal.aborted) {
      if (performance.now() - firstMs > SAME_INTERRUPT_MS) process.exit(EXIT_INTERRUPTED);
      return;
    }
    firstMs = performance.now();
    interrupted.abort(new Interruption(`ended by ${by}`));
    setTimeout(() => process.exit(EXIT_INTERRUPTED), closeTimeoutMs).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt(signal));
  onLauncherEnd(() => interrupt('the end of npm'));
  try {
    return await job(interrupted.signal);
  } catch (error) {
    if (interrupted.signal.reason instanceof Interruption) {
      console.error(`\n${interrupted.signal.reason.message}`);
      return EXIT_INTERRUPTED;
    }
    console.error(error);
    return 1;
  }
}
