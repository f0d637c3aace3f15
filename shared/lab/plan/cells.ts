// The cells of a plan, and the order that they run in.
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

export function cellsOf(plan: Plan, providers: readonly Provider[]): Coordinates[] {
  const rungs = [
    ...plan.callers.map((callers) => ({ callers, ratePerSecond: null })),
    ...plan.ratesPerSecond.map((ratePerSecond) => ({ callers: plan.inFlightMax, ratePerSecond })),
  ];
  return placesOf(plan, providers).flatMap((place) => rungs.map((rung) => ({ ...place, ...rung })));
}

export function leftOutOf(plan: Plan, providers: readonly Provider[]): LeftOut[] {
  return providers.flatMap((provider) =>
    plan.workloads.flatMap((workload) =>
      plan.layouts.flatMap((layout) => {
        const why = whyNot(layout, workload);
        return why === undefined ? [] : [{ provider, layout, workload, why }];
      }),
    ),
  );
}

function placesOf(plan: Plan, providers: readonly Provider[]): Omit<Coordinates, 'callers' | 'ratePerSecond'>[] {
  return plan.workloads.flatMap((workload) =>
    plan.recordBytes.flatMap((recordBytes) =>
      plan.instances.flatMap((instances) =>
        plan.layouts
          .filter((layout) => whyNot(layout, workload) === undefined)
          .flatMap((layout) =>
            (isOfContainers(layout) ? plan.containerKib : [null]).flatMap((containerKib) =>
              providers.map((provider) => ({ provider, layout, workload, recordBytes, containerKib, instances })),
            ),
          ),
      ),
    ),
  );
}

/** A block for each repetition. The seed draws its order: disturbances hit all cells alike. */
export function itemsOf(plan: Plan, providers: readonly Provider[]): Item[] {
  const searched = plan.search === null ? [] : placesOf(plan, providers);
  const once = [
    ...cellsOf(plan, providers).map((cell) => ({ kind: 'run' as const, cell })),
    ...searched.map((place) => {
      return { kind: 'search' as const, cell: { ...place, callers: plan.inFlightMax, ratePerSecond: null } };
    }),
  ];
  return Array.from({ length: plan.repetitions }, (_, block) =>
    shuffled(once, scramble32(plan.seed + block)).map((item) => ({ ...item, repetition: block + 1 })),
  ).flat();
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
