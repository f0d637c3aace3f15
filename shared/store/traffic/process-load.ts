// When a process counts as busy. Its runtime measures the share of time in which it works.
import type { Runtime } from '../contract/runtime.ts';

/** Above this share sharing requests gains more than sending more of them. */
const BUSY_SHARE = 0.7;
/** More containers mean more commits: their work may take this much of the time. */
const WORK_MAX = 0.9;

type Worker = Pick<Runtime, 'busyShare'>;

export function isBusy(runtime: Worker): boolean {
  return runtime.busyShare() > BUSY_SHARE;
}

/** Whether the process has time for so many times its work. */
export function hasTimeFor(times: number, runtime: Worker): boolean {
  return runtime.busyShare() * times < WORK_MAX;
}
