// Scenarios with processes of another release among those of this one. A process may go from the one to the other when it crashes: an upgrade, or a
// rollback.
import { Chance } from './chance.ts';
import type { Mishap } from './mishap.ts';
import { type OtherLives, type Scenario, scenarioOf } from './scenario.ts';

/** Releases that differ in what they know of merging are to meet where leaves merge. */
const MERGING_SHARE = 0.9;

/** Of a process that merges, wherever it is of this release. */
const MERGER: Readonly<Record<OtherLives, number>> = { none: 6, odd: 2, even: 2, all: 0 };
const OTHERS: Readonly<Record<OtherLives, number>> = { none: 2, odd: 2, even: 2, all: 4 };

/** At least one process is of the other release, always or in turn. */
export function scenarioBeside(seed: number): Scenario {
  const scenario = scenarioOf(seed, MERGING_SHARE);
  const chance = new Chance(seed, 7);
  const drawn = scenario.merges.map((_, process) =>
    chance.weighted<OtherLives>(process === 0 && scenario.merges[0] === true ? MERGER : OTHERS),
  );
  const isMixed = drawn.some((lives) => lives !== 'none');
  const other = isMixed ? drawn : drawn.with(drawn.length - 1, 'all');
  const crashes = other.flatMap((lives, process) =>
    lives === 'even' || lives === 'odd' ? crashesOf(chance, process) : [],
  );
  return { ...scenario, other, mishaps: [...scenario.mishaps, ...crashes] };
}

export function isOther(lives: OtherLives | undefined, life: number): boolean {
  if (lives === undefined || lives === 'none') return false;
  return lives === 'all' || (lives === 'even') === (life % 2 === 0);
}

function crashesOf(chance: Chance, process: number): Mishap[] {
  return Array.from({ length: chance.of([1, 1, 2]) }, () => ({
    kind: 'crash',
    process,
    atCall: chance.below(60),
    isSent: chance.is(0.6),
    downMs: chance.of([1, 500, 20_000]),
  }));
}
