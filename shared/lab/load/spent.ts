// What a piece of work took: time on the wall, and processor time of this process. The latter is what a function's owner pays for, and other programs on the
// machine move it far less.

/** What work is measured by. */
export interface Clocks {
  /** Milliseconds, never going back. */
  monotonicMs(): number;
  /** Microseconds that this process has had of its processors: user and system, all threads. */
  processorUs(): number;
}

/** Of this machine and this process. */
export const PROCESS_CLOCKS: Clocks = {
  monotonicMs: () => performance.now(),
  processorUs: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

/** What all that happened between two readings of the clocks took. */
export interface Spent {
  readonly wallMs: number;
  readonly processorUs: number;
}

/** What `work` took, and whatever else this process did meanwhile. Rejects as the work does. */
export async function spentOn(work: () => unknown, clocks: Clocks = PROCESS_CLOCKS): Promise<Spent> {
  const beganMs = clocks.monotonicMs();
  const beganUs = clocks.processorUs();
  await work();
  return { wallMs: clocks.monotonicMs() - beganMs, processorUs: clocks.processorUs() - beganUs };
}
