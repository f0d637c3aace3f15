// Whether the machine let a cell have the processor it wanted, and what a report says where it did not. A cell that waited for other programs
// measured them.
import type { CellResult } from './cell.ts';

/** Running totals, in milliseconds, since some fixed moment. */
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

export interface ProcessorShares {
  /** Of the time that the cell's thread had work to do: how much of it the thread waited for a processor. Null where the system does not tell. */
  readonly processorWait: number | null;
  /** Of the machine's processor time: how much the hypervisor gave to other machines. Null where the system does not tell. */
  readonly processorStolen: number | null;
}

/**
 * Above these shares a cell counts as disturbed. Waiting up to a fifth is usual where function and emulator share two processors; a cloud's
 * machine has a few per mille stolen.
 */
const WAIT_MAX = 0.2;
const STOLEN_MAX = 0.05;

/** What was waited and stolen between two readings. */
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

/** A sentence for the reader of cells that ran on a busy machine; undefined where none did. */
export function busyWarning(cells: readonly (Pick<CellResult, 'concurrency'> & ProcessorShares)[]): string | undefined {
  const waits = cells.map(({ processorWait }) => processorWait ?? 0);
  const stolen = cells.map(({ processorStolen }) => processorStolen ?? 0);
  const disturbed = cells.filter((_, at) => waits[at]! > WAIT_MAX || stolen[at]! > STOLEN_MAX).length;
  if (disturbed === 0) return undefined;
  const facts = [
    `waiting for a processor took up to ${percent(Math.max(...waits))} of the function's working time (${percent(WAIT_MAX)} is usual)`,
    ...(Math.max(...stolen) > STOLEN_MAX
      ? [`other machines took up to ${percent(Math.max(...stolen))} of this one's processors`]
      : []),
  ];
  return `The machine was busy with other work in ${disturbed} of ${cells.length} cells: ${facts.join(', ')}. Take their figures with care, or run the comparison again on a quiet machine.`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
