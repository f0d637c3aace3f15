// Whether a cell had the processor it wanted: else it measured other programs, or itself.
import type { CellResult } from './cell.ts';

/** Running totals of a thread, in milliseconds. */
export interface ThreadTimes {
  readonly ranMs: number;
  /** It was ready to run, and every processor was busy with something else. */
  readonly waitedMs: number;
}

/** Running totals in milliseconds, of a cell's thread and of its machine. */
export interface ProcessorTimes extends ThreadTimes {
  /** All of the machine's processors, idle time included. */
  readonly machineMs: number;
  /** The part of it that the hypervisor gave to other machines. */
  readonly stolenMs: number;
  /** Of the emulator's thread, where one answers on this machine. */
  readonly emulator: ThreadTimes | undefined;
}

/** Shares between two readings, from 0 to 1 in thousandths; null without both readings. */
export function processorShares(
  before: ProcessorTimes | undefined,
  after: ProcessorTimes | undefined,
  elapsedMs: number,
): CellResult['processor'] {
  if (before === undefined || after === undefined) return { wait: null, stolen: null, busy: null, emulatorBusy: null };
  const waitedMs = after.waitedMs - before.waitedMs;
  const ranMs = after.ranMs - before.ranMs;
  return {
    wait: shareOf(waitedMs, waitedMs + ranMs),
    stolen: shareOf(after.stolenMs - before.stolenMs, after.machineMs - before.machineMs),
    busy: shareOf(ranMs + waitedMs, elapsedMs),
    emulatorBusy: emulatorShare(before.emulator, after.emulator, elapsedMs),
  };
}

function emulatorShare(
  before: ThreadTimes | undefined,
  after: ThreadTimes | undefined,
  elapsedMs: number,
): number | null {
  if (before === undefined || after === undefined) return null;
  return shareOf(after.ranMs - before.ranMs + after.waitedMs - before.waitedMs, elapsedMs);
}

function shareOf(part: number, whole: number): number | null {
  if (whole <= 0) return null;
  return Math.round(Math.min(1, Math.max(0, part / whole)) * 1_000) / 1_000;
}
