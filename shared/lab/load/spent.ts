// Time on the wall and processor time of a piece of work. A function's owner pays for processor
// time, and other programs move it far less.

export interface Clocks {
  /** Milliseconds, never going back. */
  monotonicMs(): number;
  /** Microseconds that this process has had of its processors: user and system, all threads. */
  processorUs(): number;
}

export const PROCESS_CLOCKS: Clocks = {
  monotonicMs: () => performance.now(),
  processorUs: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

/** Time between two readings of the clocks. */
export interface Spent {
  readonly wallMs: number;
  readonly processorUs: number;
}

/** Time that `work` took, and all else of this process meanwhile. Rejects as the work does. */
export async function spentOn(work: () => unknown, clocks: Clocks = PROCESS_CLOCKS): Promise<Spent> {
  const beganMs = clocks.monotonicMs();
  const beganUs = clocks.processorUs();
  await work();
  return { wallMs: clocks.monotonicMs() - beganMs, processorUs: clocks.processorUs() - beganUs };
}
