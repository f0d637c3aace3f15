// A turn: callers in a closed loop, and what they cost this process meanwhile.
import { closedLoop, type IsOver } from '../../../../shared/lab/load/closed-loop.ts';
import { type Clocks, PROCESS_CLOCKS, type Spent, spentOn } from '../../../../shared/lab/load/spent.ts';

export interface TurnSize {
  readonly inFlight: number;
  readonly turnMs: number;
}

/** Does the work once; resolves, when the last reply has arrived, to the records it handled. */
export type Work = () => Promise<number>;

/** Records and costs of a turn: work under way at its end was finished and counts. */
export interface Turn extends Spent {
  readonly records: number;
}

/** Rejects as the work does: half of the work is no result. */
export async function takeTurn(
  work: Work,
  inFlight: number,
  isOver: IsOver,
  clocks: Clocks = PROCESS_CLOCKS,
): Promise<Turn> {
  let records = 0;
  const call = async (): Promise<void> => {
    const handled = await work();
    records += handled;
  };
  const spent = await spentOn(() => closedLoop(inFlight, isOver, call), clocks);
  return { records, ...spent };
}
