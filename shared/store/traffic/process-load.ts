// When a process counts as busy. Its runtime measures the share of time in which it works.
import type { Runtime } from '../contract/runtime.ts';

/** Above this share sharing requests gains more than sending more of them. */
const BUSY_SHARE = 0.7;
/** Twice the containers may mean twice the commits: they must leave this much of the time used. */
const WORK_MAX = 0.9;

type Worker = Pick<Runtime, 'busyShare'>;

export function isBusy(runtime: Worker): boolean {
  return runtime.busyShare() > BUSY_SHARE;
}

/** How many times its work the process has time for. */
export function timesAffordable(runtime: Worker): number {
  return Math.floor(WORK_MAX / runtime.busyShare());
}
