// Warnings before any figure, and marks beside one, the same on the page and in the terminal.
import type { CellResult, Place } from '../load/cell.ts';
import { said } from '../kit/figure-format.ts';
import { list, PROVIDER_NAMES, PROVIDER_SHORT_NAMES, providersIn } from './names.ts';
import { type Circumstances, type Mark, MARKS, type Report } from './report-schema.ts';

/** What to know before any figure is believed, a sentence each. */
export function warningsOf(places: readonly Place[], cells: Report['cells']): string[] {
  return [...unlikePlaces(places), ...marked(cells)];
}

export function whereWords({ places, network }: Pick<Report, 'places' | 'network'>): string {
  if (places.length === 0) return 'No function answered, so there is no figure.';
  const emulated = providersOf(places.filter(({ isEmulator }) => isEmulator));
  const real = places.filter(({ isEmulator }) => !isEmulator);
  return said(
    emulated.length > 0 &&
      `${list(emulated)}: ${emulatorsWords(network)} on this machine; no cloud was asked. Compare the layouts with each other; the rates are no cloud's.`,
    real.length > 0 && `${list(providersOf(real))}: the real service${regionsOf(real)}.`,
  ).join(' ');
}

/** `emulators behind a network of 9 ms per read and ...`; `null` is no network. */
export function emulatorsWords(network: Circumstances['network']): string {
  if (network === null) return 'emulators without a network';
  const each = network.roundTrips.map(({ provider, readMs, commitMs }) => {
    return `${readMs} ms per read and ${commitMs} ms per commit (${PROVIDER_SHORT_NAMES[provider]})`;
  });
  return `emulators behind a network of ${each.join(', ')}`;
}

/** What no cell was tried for, a sentence for each reason. */
export function leftOutWords(leftOut: Report['leftOut']): string[] {
  return [...Map.groupBy(leftOut, ({ why }) => why)].map(([why, some]) => {
    const names = some.map(
      ({ provider, layout, workload }) => `${PROVIDER_SHORT_NAMES[provider]} ${layout} in ${workload}`,
    );
    return `Left out: ${names.join(', ')}. ${why}`;
  });
}

/** Differences between the places of clouds that are compared, a sentence each. */
function unlikePlaces(places: readonly Place[]): string[] {
  const runtimes = [...new Set(places.map(({ runtime }) => runtime))];
  const commits = new Set(places.map(({ commit }) => commit));
  const kinds = new Set(places.map(({ isEmulator }) => isEmulator));
  return said(
    runtimes.length > 1 && `The functions ran on different runtimes: ${list(runtimes)}.`,
    commits.size > 1 && 'The functions were built from different commits.',
    kinds.size > 1 && 'One cloud is emulated and the other is not: do not compare the two.',
  );
}

/** One sentence per mark: in how many runs it was set. */
function marked(cells: Report['cells']): string[] {
  const runs = cells.flatMap((cell) => cell.runs);
  return MARKS.flatMap((mark) => {
    const count = runs.filter(({ marks }) => marks.includes(mark)).length;
    return count === 0 ? [] : [`In ${count} of ${runs.length} runs ${MARK_WORDS[mark]}.`];
  });
}

function providersOf(places: readonly Place[]): string[] {
  return providersIn(places).map((provider) => PROVIDER_NAMES[provider]);
}

function regionsOf(places: readonly Place[]): string {
  const regions = [...new Set(places.flatMap(({ region }) => region ?? []))];
  return regions.length === 0 ? '' : ` in ${list(regions)}`;
}

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
const MARK_WORDS: Readonly<Record<Mark, string>> = {
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
