// A plan: what a comparison measures, how long and how often, and the order in which its cells run.
import * as z from 'zod';
import {
  arrivalsSchema,
  CALLERS_MAX,
  cellRequestSchema,
  type Coordinates,
  coordinatesSchema,
  INSTANCES_MAX,
  RECORD_BYTES,
  warmupSchema,
} from '../load/cell.ts';
import {
  isOfContainers,
  KEY_CHOICES,
  LAYOUTS,
  type Provider,
  USERS_LAYOUTS,
  whyNot,
  WORKLOADS,
} from '../kit/dimensions.ts';
import { randomInt, scramble32, seededRandom } from '../kit/random.ts';
import type { LeftOut } from './outcome.ts';

const { records, recordForm, seed, durationMs } = cellRequestSchema.shape;
const rate = z.number().positive().max(1_000_000);

/** The percentiles that are given, and that a search may hold. */
export const PERCENTILES = [50, 90, 95, 99, 99.9] as const;

/** Runs of one cell at most. */
export const REPETITIONS_MAX = 50;

/** Looks for the highest rate of an open loop at which the percentile stays within the latency. */
export const searchSchema = z.strictObject({
  percentile: z.literal(PERCENTILES).default(99),
  latencyMsMax: z.number().positive().max(60_000),
  /** The first rate that is tried; calls per second on all instances together. */
  fromPerSecond: rate.default(100),
  /** No higher rate is tried. */
  toPerSecond: rate.default(100_000),
  /** Rates are doubled until one does not hold, then the gap is halved to a tenth. */
  triesMax: z.int().min(1).max(40).default(12),
});

export type Search = z.output<typeof searchSchema>;

/** A plan has a cell for every combination of its lists, `callers` and `ratesPerSecond` apart. */
export const planSchema = z
  .strictObject({
    /** Part of files' names, too. */
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,30}$/)
      .default('custom'),
    workloads: distinct(z.enum(WORKLOADS)).default(['load', 'ycsb-c', 'ycsb-a', 'read-together', 'ycsb-e']),
    layouts: distinct(z.enum(LAYOUTS)).default([...USERS_LAYOUTS]),
    /** Null: as each workload says. `load` has none. */
    keys: z.enum(KEY_CHOICES).nullable().default(null),
    /** Records in a dataset that is worked on. */
    records,
    recordBytes: distinct(coordinatesSchema.shape.recordBytes).default([RECORD_BYTES]),
    recordForm,
    /** Sizes of the largest container; layouts without containers run once for all of them. */
    containerKib: distinct(coordinatesSchema.shape.containerKib).default([null]),
    /** Function instances on each cloud that generate the load together. */
    instances: distinct(z.int().min(1).max(INSTANCES_MAX)).default([1]),
    /** Rungs of the closed loop: callers in flight on each instance. May be empty. */
    callers: distinct(z.int().min(1).max(CALLERS_MAX), 0).default([1, 4, 16, 64]),
    /**
     * Up to so many callers a cell runs on all clouds at the same time. Their functions do not
     * share a machine, unless emulators answer on this one.
     */
    sideBySideCallersMax: z.int().min(0).max(CALLERS_MAX).default(CALLERS_MAX),
    /** Rungs of the open loop: calls per second on all instances together. */
    ratesPerSecond: distinct(rate, 0).default([]),
    /** Arrivals of open loops and searches. */
    arrivals: arrivalsSchema,
    /** Calls of the open loop in flight on one instance; others wait, and their latency grows. */
    inFlightMax: z.int().min(1).max(CALLERS_MAX).default(CALLERS_MAX),
    search: searchSchema.nullable().default(null),
    durationMs,
    /** `severalWritersMs`: the least where several instances write, as containers split first. */
    warmup: warmupSchema.extend({ severalWritersMs: z.int().min(0).max(60_000).default(10_000) }).prefault({}),
    /** Runs of each cell: six are the fewest that tell two layouts apart (figure.ts). */
    repetitions: z.int().min(1).max(REPETITIONS_MAX).default(6),
    seed,
    /**
     * Keeps Datastore's 500/50/5 rule: 500 operations per second on a new kind, half as many more
     * every five minutes. Emulators need none of it.
     */
    isRamped: z.boolean().default(true),
  })
  .refine(({ callers, ratesPerSecond, search }) => callers.length + ratesPerSecond.length > 0 || search !== null, {
    error: 'a plan needs callers, ratesPerSecond or a search: there is no load otherwise',
  })
  .refine(({ warmup: { leastMs, mostMs } }) => leastMs <= mostMs, {
    error: 'warmup.leastMs is above warmup.mostMs',
  });

/** As a file or a page may write it: fields with defaults may be left out. */
export type PlanInput = z.input<typeof planSchema>;
export type Plan = z.output<typeof planSchema>;

/**
 * The plan of `npm start`, three minutes on two quiet cores: what people decide by, in six blocks
 * of windows that are short, as each block is a pair for every ratio.
 */
export const DEFAULT_PLAN: Plan = planSchema.parse({
  name: 'default',
  durationMs: 180,
  warmup: { leastMs: 80, mostMs: 80 },
  repetitions: 6,
  sideBySideCallersMax: 16,
  seed: 20_261_101,
});

/** The plans that have a name. */
export const PLANS = {
  default: DEFAULT_PLAN,
  /** For a quiet machine or real clouds, some two hours. */
  full: planSchema.parse({
    name: 'full',
    workloads: [...WORKLOADS],
    layouts: [...LAYOUTS],
    callers: [1, 8, 32, 128],
    durationMs: 3_000,
    warmup: { leastMs: 500, mostMs: 5_000 },
    repetitions: 7,
    seed: 20_261_101,
  }),
  /** The processor's work on both sides, against the goals of comparisons.ts, in eight minutes. */
  bench: planSchema.parse({
    name: 'bench',
    workloads: ['load', 'update', 'ycsb-c', 'read-together', 'ycsb-e'],
    layouts: [...LAYOUTS],
    keys: 'uniform',
    callers: [1, 32],
    durationMs: 700,
    warmup: { leastMs: 200, mostMs: 400 },
    sideBySideCallersMax: 0,
    seed: 20_261_101,
  }),
  // What documents of 2009 and 2011 measured: published.ts sets their figures beside a run's.
  'document-b': documentPlan({ name: 'document-b', workloads: ['load'], recordBytes: [200], callers: [1, 3, 10] }),
  'document-c': documentPlan({ name: 'document-c', workloads: ['load'], recordBytes: [200, 10_000], callers: [1] }),
  'document-e': documentPlan({
    name: 'document-e',
    workloads: ['load', 'ycsb-c', 'read-together'],
    recordBytes: [500],
    callers: [1],
  }),
} as const satisfies Readonly<Record<string, Plan>>;

/** Cells as short as the default plan's. The documents wrote texts. */
function documentPlan(input: PlanInput): Plan {
  const { durationMs, warmup, seed } = DEFAULT_PLAN;
  return planSchema.parse({ recordForm: 'text', durationMs, warmup, seed, ...input });
}

/** The plan in a file's JSON. Throws a TypeError with a line for each fault. */
export function planOf(text: string): Plan {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new TypeError(`a plan is JSON: ${(error as Error).message}`, { cause: error });
  }
  const parsed = planSchema.safeParse(json);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  return parsed.data;
}

/** A list without duplicates. */
function distinct<Item extends z.ZodType>(item: Item, least = 1) {
  return z
    .array(item)
    .min(least)
    .max(64)
    .refine((items) => new Set(items).size === items.length, { error: 'nothing may stand twice' });
}

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
