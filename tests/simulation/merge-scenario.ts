// A scenario's merges: who vacuums, and who stops at a step of a merge.
import type { Action, ActionSource } from './client-actions.ts';
import type { Chance } from './seeded-chance.ts';
import type { MergeStep, Mishap } from './mishap.ts';

export type Clients = { readonly process: number; readonly actions: Action[] }[];

/** How often each step of a merge is the one at which the process dies or falls asleep. */
const AIMED: Readonly<Record<MergeStep, number>> = { retire: 5, absorb: 4, copy: 1, strip: 2 };

/** A merging process dies, or falls asleep, between two steps of a merge. */
export function mergeMishapsOf(chance: Chance, processes: number): Mishap[] {
  const common = () => ({
    process: chance.is(0.6) ? 0 : chance.below(processes),
    atCall: chance.of([1, 1, 2, 3]),
    step: chance.weighted(AIMED),
  });
  return Array.from({ length: chance.of([0, 1, 2, 2, 3]) }, (): Mishap =>
    chance.is(0.6)
      ? { ...common(), kind: 'crash', isSent: chance.is(0.7), downMs: chance.of([1, 500, 20_000]) }
      : { ...common(), kind: 'sleep', ms: chance.of([300, 3_000, 20_000, 400_000]), monotonicStops: chance.is(0.5) },
  );
}

/** One client deletes most of the records, and several vacuum. */
export function shrinkBy(chance: Chance, clients: Clients, actions: ActionSource): void {
  const [first] = clients;
  const at = chance.below(4);
  if (chance.is(0.7)) first!.actions.splice(at, 0, ...actions.unload(), actions.vacuum(chance.below(20)));
  for (const { actions: own } of clients.slice(1)) {
    const [begin, ...rest] = own.splice(0);
    own.push({ ...begin!, gapMs: chance.below(3_000) }, ...rest);
    for (let times = chance.below(3); times > 0; times -= 1)
      own.splice(chance.below(own.length), 0, ...(chance.is(0.4) ? actions.load() : actions.look(chance.below(1_000))));
  }
  for (const { actions: own } of clients)
    for (let vacuums = chance.below(3); vacuums > 0; vacuums -= 1)
      own.splice(chance.below(1 + own.length), 0, actions.vacuum(chance.below(800)));
}
