// Warns of a machine that was busy with other work while the comparison ran: its figures are not those of the layouts alone.
import type { CellResult } from '../cell/old-cell.ts';
import type { ProcessorShares } from '../cell/processor-shares.ts';

/**
 * Above these shares a cell counts as disturbed. Waiting up to a fifth is usual where function and emulator share two processors; a cloud's
 * machine has a few per mille stolen.
 */
const WAIT_MAX = 0.2;
const STOLEN_MAX = 0.05;

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
