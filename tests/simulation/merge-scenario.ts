// A scenario's merges: who vacuums, who works meanwhile, and who stops at a step of a merge.
import type { Action, ActionSource } from './actions.ts';
import type { Chance } from './chance.ts';
import type { MergeStep, Mishap } from './mishap.ts';

export type Clients = { readonly process: number; readonly actions: Action[] }[];

/** How often each step of a merge is the one at which the process dies or falls asleep. */
const AIMED: Readonly<Record<MergeStep, number>> = { retire: 5, absorb: 4, copy: 1, strip: 2 };

/** GROWN_KEYS records take more than half of a small container, and less than a whole one. */
const GROWN_KEYS = 16;
const GROWN_BYTES = 250;

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

/** The first process stops for long in the midst of a merge. */
export function aimedMishaps(chance: Chance): Mishap[] {
  const common = { process: 0, atCall: chance.of([1, 1, 2, 3]), step: chance.weighted(AIMED) };
  return [
    chance.is(0.5)
      ? { ...common, kind: 'crash', isSent: chance.is(0.7), downMs: chance.of([500, 20_000]) }
      : { ...common, kind: 'sleep', ms: chance.of([3_000, 20_000, 400_000]), monotonicStops: chance.is(0.5) },
  ];
}

/** The first process empties the table and vacuums. The others, who know the old leaves, go on. */
export function besideAMerge(chance: Chance, processes: number, actions: ActionSource): Clients {
  const merger = [...actions.unload(), { ...actions.vacuum(0), quietMs: 0, timeoutMs: 300_000 }, ...actions.draw(3)];
  const others = Array.from({ length: 2 + chance.below(2) }, (_, other) => ({
    process: 1 + (other % (processes - 1)),
    actions: [
      ...after(chance.of([300, 3_000]) * chance.share(), actions.look(0)),
      ...Array.from({ length: 5 }, (_, time) => {
        const kind = chance.weighted({ load: 3, look: 4, draw: 3 });
        const some =
          kind === 'load'
            ? actions.load(chance.of([20, 300, 900]))
            : kind === 'look'
              ? actions.look(0)
              : actions.draw(3);
        const [first, ...rest] = after(chance.of([50, 500, 2_500]) * chance.share(), some);
        return [time === 0 ? { ...first!, isBesideMerge: true as const } : first!, ...rest];
      }).flat(),
    ],
  }));
  return [{ process: 0, actions: merger }, ...others];
}

/** `refused`: others write to a leaf that retires. `copies`: a copier sleeps before its link. */
export type Rare = 'refused' | 'copies';

export function rareMishaps(rare: Rare, chance: Chance, processes: number): Mishap[] {
  const retiring = { process: 0, step: 'retire', atCall: chance.of([1, 1, 2]) } as const;
  if (rare === 'refused') return [{ ...retiring, kind: 'delay', ms: chance.of([500, 3_000]) }];
  const copying = { kind: 'sleep', step: 'copy', atCall: 1, ms: 60_000, monotonicStops: false } as const;
  return [
    { ...retiring, kind: 'sleep', ms: 20_000, monotonicStops: false },
    ...Array.from({ length: processes - 1 }, (_, other) => ({ ...copying, process: other + 1 })),
  ];
}

/** As `besideAMerge`. While the merger is late or asleep, others write what the case needs. */
export function besideARareMerge(rare: Rare, chance: Chance, processes: number, actions: ActionSource): Clients {
  const [merger, ...others] = besideAMerge(chance, processes, actions);
  for (const { actions: own } of others) {
    const [first, ...rest] = rare === 'copies' ? growing(actions) : actions.load(20);
    own.unshift({ ...first!, gapMs: chance.below(20), isBesideMerge: true }, ...rest);
  }
  return [merger!, ...others];
}

/** The first leaf grows, perhaps too large to take in its neighbour. Then every leaf is written. */
function growing(actions: ActionSource): Action[] {
  const [first] = actions.load(GROWN_BYTES);
  return [{ ...first!, keys: first!.keys.slice(0, GROWN_KEYS) }, ...actions.load(20)];
}

function after(gapMs: number, [first, ...rest]: readonly Action[]): Action[] {
  return first === undefined ? [] : [{ ...first, gapMs }, ...rest];
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
