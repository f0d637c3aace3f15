// Whether the machine let a cell have the processor it wanted. A cell that waited for other programs measured those.

/** Running totals in milliseconds since some fixed moment, of the thread that a cell runs on and of its machine. */
export interface ProcessorTimes {
  /** The thread ran. */
  readonly ranMs: number;
  /** The thread was ready to run, and every processor was busy with something else. */
  readonly waitedMs: number;
  /** All of the machine's processors, idle time included. */
  readonly machineMs: number;
  /** Of that, what the hypervisor gave to other machines. */
  readonly stolenMs: number;
}

/** Shares from 0 to 1, in thousandths. */
export interface ProcessorShares {
  /** Of the time that the cell's thread had work to do: how much of it the thread waited for a processor. Null where the system does not tell. */
  readonly processorWait: number | null;
  /** Of the machine's processor time: how much the hypervisor gave to other machines. Null where the system does not tell. */
  readonly processorStolen: number | null;
}

/** The shares between two readings, null where one of them is undefined. */
export function processorShares(
  before: ProcessorTimes | undefined,
  after: ProcessorTimes | undefined,
): ProcessorShares {
  if (before === undefined || after === undefined) return { processorWait: null, processorStolen: null };
  const waitedMs = after.waitedMs - before.waitedMs;
  return {
    processorWait: shareOf(waitedMs, waitedMs + after.ranMs - before.ranMs),
    processorStolen: shareOf(after.stolenMs - before.stolenMs, after.machineMs - before.machineMs),
  };
}

function shareOf(part: number, whole: number): number | null {
  if (whole <= 0) return null;
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 1_000) / 1_000;
}
