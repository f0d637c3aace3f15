// One turn of a load: callers in a closed loop until this process has spent a given processor time. What another process does meanwhile makes
// a turn longer and costs it nothing, so turns can be measured on a busy machine.

/** Does the work once; resolves, when the last reply has arrived, to the operations it did. */
export type Work = () => Promise<number>;

/** What a turn did, and the processor time of this process, user and system, all threads. */
export interface Spent {
  readonly operations: number;
  readonly microseconds: number;
}

export interface Turn {
  /** Work under way when so much is spent is finished and counted, its time too. */
  readonly processorMs: number;
  /** Work done at least, so that a slow one is not measured once. */
  readonly worksMin: number;
  readonly signal: AbortSignal;
}

/** Runs a turn with so many callers. Rejects as the work does, and with the signal's reason. */
export async function spend(work: Work, inFlight: number, { processorMs, worksMin, signal }: Turn): Promise<Spent> {
  const begun = process.cpuUsage();
  let operations = 0;
  let works = 0;
  const caller = async (): Promise<void> => {
    do {
      signal.throwIfAborted();
      works += 1;
      // Not in one expression: it would add to what `operations` was before the wait.
      const done = await work();
      operations += done;
    } while (works < worksMin || microsecondsSince(begun) < processorMs * 1_000);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { operations, microseconds: microsecondsSince(begun) };
}

function microsecondsSince(begun: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begun);
  return user + system;
}
