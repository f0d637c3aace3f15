// Warnings before any figure, the same on the page and in the terminal.
import type { Place } from '../load/place.ts';
import { percent, said } from '../kit/format.ts';
import { list, PROVIDER_NAMES, providersIn } from './names.ts';
import type { Report, ReportRun } from './schema.ts';

/** A run is disturbed from these shares on. Beside an emulator a fifth of waiting is usual. */
const WAIT_MAX = 0.2;
const STOLEN_MAX = 0.05;

/** From this share on the generator is the limit, not the store. */
const BUSY_MAX = 0.95;

export function whereWords(places: readonly Place[]): string {
  if (places.length === 0) return 'No function answered, so there is no figure.';
  const emulated = providersOf(places.filter(({ isEmulator }) => isEmulator));
  const real = places.filter(({ isEmulator }) => !isEmulator);
  return said(
    emulated.length > 0 &&
      `${list(emulated)}: emulated, not the cloud. Emulators share a machine with the functions, without a network and without throttling: compare the layouts with each other, do not take the rates for what a cloud will do.`,
    real.length > 0 && `${list(providersOf(real))}: the real service${regionsOf(real)}.`,
  ).join(' ');
}

/** Differences between the places of clouds that are compared, a sentence each. */
export function unlikePlaces(places: readonly Place[]): string[] {
  const runtimes = [...new Set(places.map(({ runtime }) => runtime))];
  const commits = new Set(places.map(({ commit }) => commit));
  const kinds = new Set(places.map(({ isEmulator }) => isEmulator));
  return said(
    runtimes.length > 1 && `The functions ran on different runtimes: ${list(runtimes)}.`,
    commits.size > 1 && 'The functions were built from different commits.',
    kinds.size > 1 && 'One cloud is emulated and the other is not: do not compare the two.',
  );
}

type Part = ReportRun['parts'][number];

/** Disturbances of a run, and their words; `most` gives the highest share of all runs. */
const DISTURBANCES: readonly (readonly [
  has: (part: Part) => boolean,
  words: (most: (of: (part: Part) => number | null) => string) => string,
])[] = [
  [
    ({ processorWait }) => (processorWait ?? 0) > WAIT_MAX,
    (most) =>
      `the function waited for a processor for up to ${most((part) => part.processorWait)} of its working time (${percent(WAIT_MAX)} is usual): the machine was busy with other work.`,
  ],
  [
    ({ processorStolen }) => (processorStolen ?? 0) > STOLEN_MAX,
    (most) => `other machines took up to ${most((part) => part.processorStolen)} of this one's processors.`,
  ],
  [
    ({ processorBusy }) => (processorBusy ?? 0) > BUSY_MAX,
    () =>
      `the function's thread was at work for more than ${percent(BUSY_MAX)} of the time: what generates the load was the limit there, not the store.`,
  ],
  [
    ({ steadiness }) => steadiness === 'unsteady',
    () => 'the load was not steady when its window opened, at the end of the longest warm-up.',
  ],
  [
    ({ steadiness }) => steadiness === 'not known',
    () => 'steadiness is not known: the longest warm-up had too few replies to tell one that doubles.',
  ],
  [({ isCold }) => isCold, () => 'an instance had only just started.'],
  [
    ({ isHeldByRamp }) => isHeldByRamp,
    () =>
      "operations waited for Datastore's rule for new data (500 operations a second, half as many more every five minutes): the figure is the rule's.",
  ],
];

export function disturbances({ cells }: Pick<Report, 'cells'>): string[] {
  const runs = cells.flatMap((cell) => cell.runs);
  const most = (of: (part: Part) => number | null): string =>
    percent(Math.max(0, ...runs.flatMap(({ parts }) => parts.map((part) => of(part) ?? 0))));
  return DISTURBANCES.flatMap(([has, words]) => {
    const disturbed = runs.filter(({ parts }) => parts.some(has)).length;
    return disturbed === 0 ? [] : [`In ${disturbed} of ${runs.length} runs ${words(most)}`];
  });
}

function providersOf(places: readonly Place[]): string[] {
  return providersIn(places).map((provider) => PROVIDER_NAMES[provider]);
}

function regionsOf(places: readonly Place[]): string {
  const regions = [...new Set(places.flatMap(({ region }) => region ?? []))];
  return regions.length === 0 ? '' : ` in ${list(regions)}`;
}
