// What a reader has to be told before any figure: where it ran, what disturbed it, what is missing. Sentences, the same for page and terminal.
import type { Place } from '../load/place.ts';
import { providersIn } from './charts.ts';
import { percent } from '../kit/format.ts';
import { list, PROVIDER_NAMES } from './names.ts';
import type { Report } from './schema.ts';

/**
 * Above these shares a run counts as disturbed. Waiting up to a fifth is usual where function and emulator share two processors; a cloud's machine
 * has a few per mille stolen.
 */
const WAIT_MAX = 0.2;
const STOLEN_MAX = 0.05;

/** Above this share of a run the function's thread was as good as always at work: the generator is the limit, not the store. */
const BUSY_MAX = 0.95;

/** Where the cells ran, by their own word: never that of the machine which asked for them. */
export function whereWords(places: readonly Place[]): string {
  if (places.length === 0) return 'No function answered, so there is no figure.';
  const emulated = providersOf(places.filter(({ isEmulator }) => isEmulator));
  const real = places.filter(({ isEmulator }) => !isEmulator);
  const told = [
    ...(emulated.length === 0
      ? []
      : [
          `${list(emulated)}: emulated, not the cloud. Emulators share a machine with the functions, without a network and without throttling: compare the layouts with each other, do not take the rates for what a cloud will do.`,
        ]),
    ...(real.length === 0 ? [] : [`${list(providersOf(real))}: the real service${regionsOf(real)}.`]),
  ];
  return told.join(' ');
}

export function isEmulated(places: readonly Place[]): boolean {
  return places.some((place) => place.isEmulator);
}

/** Clouds that are compared with each other run in places that are alike; else a sentence says in what they are not. */
export function unlikePlaces(places: readonly Place[]): string[] {
  const runtimes = [...new Set(places.map(({ runtime }) => runtime))];
  const kinds = [...new Set(places.map(({ isEmulator }) => isEmulator))];
  return [
    ...(runtimes.length > 1 ? [`The functions ran on different runtimes: ${list(runtimes)}.`] : []),
    ...(kinds.length > 1 ? ['One cloud is emulated and the other is not: do not compare the two.'] : []),
  ];
}

/** What disturbed the runs. Empty where nothing did. */
export function disturbances({ cells }: Pick<Report, 'cells'>): string[] {
  const runs = cells.flatMap((cell) => cell.runs);
  const parts = runs.flatMap((run) => run.parts);
  const count = (isDisturbed: (part: (typeof parts)[number]) => boolean): number =>
    runs.filter((run) => run.parts.some(isDisturbed)).length;
  const most = (of: (part: (typeof parts)[number]) => number | null): string =>
    percent(Math.max(0, ...parts.map((part) => of(part) ?? 0)));
  const waited = count(({ processorWait }) => (processorWait ?? 0) > WAIT_MAX);
  const stolen = count(({ processorStolen }) => (processorStolen ?? 0) > STOLEN_MAX);
  const busy = count(({ processorBusy }) => (processorBusy ?? 0) > BUSY_MAX);
  const unsteady = count(({ isSteady }) => !isSteady);
  const cold = count(({ isCold }) => isCold);
  const held = count(({ isHeldByRamp }) => isHeldByRamp);
  const of = (disturbed: number): string => `${disturbed} of ${runs.length} runs`;
  return [
    ...(waited === 0
      ? []
      : [
          `In ${of(waited)} the function waited for a processor for up to ${most((part) => part.processorWait)} of its working time (${percent(WAIT_MAX)} is usual): the machine was busy with other work.`,
        ]),
    ...(stolen === 0
      ? []
      : [
          `In ${of(stolen)} other machines took up to ${most((part) => part.processorStolen)} of this one's processors.`,
        ]),
    ...(busy === 0
      ? []
      : [
          `In ${of(busy)} the function's thread was at work for more than ${percent(BUSY_MAX)} of the time: what generates the load was the limit there, not the store.`,
        ]),
    ...(unsteady === 0
      ? []
      : [`In ${of(unsteady)} the load was not steady when its window opened, at the end of the longest warm-up.`]),
    ...(cold === 0 ? [] : [`In ${of(cold)} an instance had only just started.`]),
    ...(held === 0
      ? []
      : [`In ${of(held)} operations waited for Datastore's 500/50/5 rule: the figure is the rule's.`]),
  ];
}

function providersOf(places: readonly Place[]): string[] {
  return providersIn(places).map((provider) => PROVIDER_NAMES[provider]);
}

function regionsOf(places: readonly Place[]): string {
  const regions = [...new Set(places.flatMap(({ region }) => region ?? []))];
  return regions.length === 0 ? '' : ` in ${list(regions)}`;
}
