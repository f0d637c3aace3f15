// One side's turn of a contest: callers in a closed loop for a given time, and what they cost this process meanwhile.

/** Does the work once; resolves, when the last reply has arrived, to the records it handled. */
export type Work = () => Promise<number>;

/** What a turn did. */
export interface Turn {
  readonly records: number;
  readonly elapsedMs: number;
  /** Processor time of this process in microseconds: user and system, all threads. */
  readonly processorUs: number;
}

/** How long, and by how many callers at a time, each waiting for its reply before it calls again. */
export interface TurnSize {
  readonly inFlight: number;
  /** Work under way at its end is finished and counted, its time too. */
  readonly turnMs: number;
}

/** What a turn is measured by. */
export interface Clocks {
  /** Milliseconds, never going back. */
  monotonicMs(): number;
  /** Microseconds that this process has had of its processors. */
  processorUs(): number;
}

/** Time of the machine, and processor time of this process. */
export const MACHINE_CLOCKS: Clocks = {
  monotonicMs: () => performance.now(),
  processorUs: () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

/** Rejects as the work does: half of the work is no result. */
export async function takeTurn(work: Work, { inFlight, turnMs }: TurnSize, clocks: Clocks): Promise<Turn> {
  const begunMs = clocks.monotonicMs();
  const begunUs = clocks.processorUs();
  let records = 0;
  const caller = async (): Promise<void> => {
    do {
      const handled = await work();
      records += handled;
    } while (clocks.monotonicMs() - begunMs < turnMs);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return {
    records,
    elapsedMs: clocks.monotonicMs() - begunMs,
    processorUs: clocks.processorUs() - begunUs,
  };
}

/** Records a second. */
export function rateOf({ records, elapsedMs }: Turn): number {
  return (records / elapsedMs) * 1_000;
}
