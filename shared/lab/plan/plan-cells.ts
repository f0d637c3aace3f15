// The cells of a plan, and the order in which they run.
import type { Coordinates } from '../load/coordinates.ts';
import { randomInt, scramble32, seededRandom } from '../kit/random.ts';
import { whyNot } from '../work/workloads.ts';
import { isOfContainers, type Provider } from '../kit/dimensions.ts';
import type { LeftOut } from './outcome.ts';
import type { Plan } from './plan.ts';

/** A run of a cell, or a search of the highest rate, for which the cell names none. */
export interface Item {
  readonly kind: 'run' | 'search';
  readonly cell: Coordinates;
  /** From 1. */
  readonly repetition: number;
}

export function leftOutOf(plan: Plan, providers: readonly Provider[]): LeftOut[] {
  return providers.flatMap((provider) =>
    plan.workloads.flatMap((workload) =>
      plan.layouts.flatMap((layout) => {
        const why = whyNot(layout, workload, provider);
        return why === undefined ? [] : [{ provider, layout, workload, why }];
      }),
    ),
  );
}

/**
 * One block per repetition, in which every cell runs once. The cells of a group run side by side:
 * the same cell on each provider, up to `sideBySideCallersMax` callers. The seed draws the order of
 * each block, so that disturbances hit all cells alike.
 */
export function groupsOf(plan: Plan, providers: readonly Provider[]): Item[][] {
  const once = kindsOf(plan).flatMap(({ kind, ...rest }) => {
    const cells = providers
      .filter((provider) => whyNot(rest.layout, rest.workload, provider) === undefined)
      .map((provider) => ({ kind, cell: { provider, ...rest } }));
    if (rest.ratePerSecond !== null || kind === 'search' || rest.callers > plan.sideBySideCallersMax)
      return cells.map((cell) => [cell]);
    return cells.length === 0 ? [] : [cells];
  });
  return Array.from({ length: plan.repetitions }, (_, block) =>
    shuffled(once, scramble32(plan.seed + block)).map((group) =>
      group.map((item) => ({ ...item, repetition: block + 1 })),
    ),
  ).flat();
}

/** What runs once per block on each provider: each rung of the load, and a search. */
function kindsOf(plan: Plan): (Omit<Coordinates, 'provider'> & Pick<Item, 'kind'>)[] {
  const rungs = [
    ...plan.callers.map((callers) => ({ kind: 'run' as const, callers, ratePerSecond: null })),
    ...plan.ratesPerSecond.map((ratePerSecond) => {
      return { kind: 'run' as const, callers: plan.inFlightMax, ratePerSecond };
    }),
    ...(plan.search === null ? [] : [{ kind: 'search' as const, callers: plan.inFlightMax, ratePerSecond: null }]),
  ];
  return plan.workloads.flatMap((workload) =>
    plan.recordBytes.flatMap((recordBytes) =>
      plan.instances.flatMap((instances) =>
        plan.layouts.flatMap((layout) =>
          (isOfContainers(layout) ? plan.containerKib : [null]).flatMap((containerKib) =>
            rungs.map((rung) => ({ layout, workload, recordBytes, containerKib, instances, ...rung })),
          ),
        ),
      ),
    ),
  );
}

/** The shuffle of Fisher and Yates: every order is as likely. */
function shuffled<Thing>(things: readonly Thing[], seed: number): Thing[] {
  const random = seededRandom(seed);
  const order = [...things];
  for (let left = order.length - 1; left > 0; left -= 1) {
    const other = randomInt(random, left + 1);
    [order[left], order[other]] = [order[other]!, order[left]!];
  }
  return order;
}
