// What to know about a run beside its figure. A mark voids no verdict; only a drift that could
// explain the ratio does.
import type { CellResult } from '../load/cell.ts';

export const MARKS = [
  'cold',
  'unsteady',
  'ramp',
  'skewed',
  'waited',
  'stolen',
  'thread full',
  'emulator full',
] as const;

export type Mark = (typeof MARKS)[number];

/** Beside an emulator a thread usually waits for up to a fifth of its time. */
const WAIT_MAX = 0.2;
const STOLEN_MAX = 0.05;

/** From this share on the thread is the limit, not the store. */
const FULL = 0.9;

/** Windows that open further apart than this share of their length had no load together. */
const SKEW_MOST = 0.1;

/** `skewMs`: from the run's earliest opening of a window to this part's. */
export function marksOf(part: CellResult, skewMs: number): Mark[] {
  const { processor, warmup, isCold, isHeldByRamp, durationMs } = part;
  const has: Readonly<Record<Mark, boolean>> = {
    cold: isCold,
    unsteady: warmup.steadiness === 'unsteady',
    ramp: isHeldByRamp,
    skewed: skewMs > SKEW_MOST * durationMs,
    waited: (processor.wait ?? 0) > WAIT_MAX,
    stolen: (processor.stolen ?? 0) > STOLEN_MAX,
    'thread full': (processor.busy ?? 0) >= FULL,
    'emulator full': (processor.emulatorBusy ?? 0) >= FULL,
  };
  return MARKS.filter((mark) => has[mark]);
}

export function isOfMachine(marks: readonly Mark[]): boolean {
  return marks.includes('thread full') || marks.includes('emulator full');
}

/** For `In 3 of 40 runs ...`. */
export const MARK_WORDS: Readonly<Record<Mark, string>> = {
  cold: 'an instance had only just started',
  unsteady: 'the load was not steady when its window opened, at the end of the longest warm-up',
  ramp: "operations waited for Datastore's rule for new data (500 operations a second, half as many more every five minutes): the figure is the rule's",
  skewed: 'windows of several instances did not open together',
  waited: `the function waited for a processor for more than ${WAIT_MAX * 100} % of its working time`,
  stolen: `other machines took more than ${STOLEN_MAX * 100} % of this one's processors`,
  'thread full':
    "the function's thread was at work or waited for a processor all the time, so that it was the limit, not the store",
  'emulator full':
    "the emulator's thread was at work or waited for a processor all the time, so that it was the limit, not the store",
};
