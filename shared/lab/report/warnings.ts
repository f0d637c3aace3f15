// Warnings before any figure, the same on the page and in the terminal.
import type { Place } from '../load/instance-place.ts';
import { said } from '../kit/figure-format.ts';
import { list, PROVIDER_NAMES, PROVIDER_SHORT_NAMES, providersIn } from './names.ts';
import { MARK_WORDS, MARKS } from './marks.ts';
import type { Circumstances, Report } from './report-schema.ts';

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
