// A scenario is all of one run as plain data drawn from a seed. Shrinking leaves data out.
import {
  type Action,
  type ActionRules,
  ActionSource,
  batchBeside,
  clearBeside,
  KEYS_OF_A_GROUP,
  verifications,
} from './client-actions.ts';
import { Chance } from './seeded-chance.ts';

/** The table of every run. */
export const TABLE = 't';

/** Faults of a request. */
export const FAULTS = [
  'throttled before applying',
  'turned away as too much',
  'turned away though applied',
  'denied',
  'failed before applying',
  'reply lost after applying',
  'applied long after failing',
  'applied twice',
  'slow on the way',
  'slow to reply',
  'part of a batch applied',
  'spurious conflict',
  'refused for its size',
  'read piecemeal',
  'empty page of a listing',
] as const;
export type Fault = (typeof FAULTS)[number];

/** One-way times of requests, in milliseconds. */
export type Latency = 'even' | 'wide' | 'uneven';

/** The step of a merge that a write does. */
export type MergeStep = 'retire' | 'copy' | 'absorb' | 'strip';

/** It befalls the process at its `atCall`-th request. */
export type Mishap = {
  readonly process: number;
  readonly atCall: number;
  /** Only requests that do this step are counted. */
  readonly step?: MergeStep;
} & (
  | { readonly kind: 'crash'; readonly isSent: boolean; readonly downMs: number }
  | { readonly kind: 'sleep'; readonly ms: number; readonly monotonicStops: boolean }
  | { readonly kind: 'clock'; readonly jumpMs: number }
);

/** What the provider, the network and the processes go through, whatever is asked of them. */
export interface Weather {
  readonly seed: number;
  readonly entityBytesMax: number;
  readonly chunksMax: number;
  readonly chunkBytes: number;
  readonly latency: Latency;
  readonly faults: Partial<Record<Fault, number>>;
  /** Requests that meet no fault, each by process and number. */
  readonly spared?: readonly string[] | undefined;
  /** By how much each process's wall clock is ahead. */
  readonly skewsMs: readonly number[];
  readonly mishaps: readonly Mishap[];
}

export interface Scenario extends Weather {
  readonly order: 'hash' | 'key';
  /** The character that ends the groups of keys, of ten each; undefined without groups. */
  readonly groupBy: '/' | undefined;
  /** The number of leaves at the beginning. */
  readonly containers: number;
  readonly compression: 'none' | 'zstd';
  /** A small cache holds a container or two. */
  readonly cacheBytesMax: number;
  readonly keyCount: number;
  /** All keys share a prefix of this length: separators are long, so that branches split. */
  readonly prefixBytes: number;
  readonly clients: readonly { readonly process: number; readonly actions: readonly Action[] }[];
}

const HOUR_MS = 3_600_000;
/** The share of seeds with groups, among those in order of short keys. */
const GROUPED_SHARE = 0.3;
/** The share of seeds in which vacuums find much to merge. */
const MERGING_SHARE = 0.45;
const PURGE_MS = 800_000;
/** A table may be dropped and created again while a request is under way. */
const SLOW_FAULTS = { 'slow on the way': 0.1, 'slow to reply': 0.1 } as const;

export function scenarioOf(seed: number): Scenario {
  const chance = new Chance(seed, 1);
  const processes = 2 + chance.below(2);
  const order = chance.of(['hash', 'key'] as const);
  const isLong = order === 'key' && chance.is(0.4);
  const merging = new Chance(seed, 5);
  const isMerging = merging.is(MERGING_SHARE);
  const hasTtl = chance.is(0.3);
  const hasDrops = chance.is(0.2);
  const mishaps = [...mishapsOf(chance, processes), ...(isMerging ? mergeMishapsOf(merging, processes) : [])];
  const sleeps = mishaps.flatMap((mishap) => (mishap.kind === 'sleep' ? [mishap.ms] : []));
  // Expired records are purged after 5 minutes. Some client must pause longer and come back.
  if (hasTtl) sleeps.push(PURGE_MS);
  const keyCount = chance.of(isLong ? [24, 60, 60] : isMerging ? [12, 24, 40] : [3, 12, 24, 40, 80]);
  const actions = new ActionSource(chance, {
    keyCount,
    isLong,
    // One commit's many changes of few records, and layers, are met by the machine alone.
    isScattered: false,
    isHot: false,
    hasTtl,
    hasDrops,
    isMerging,
    sleeps,
  });
  const clients = clientsOf(chance, processes, actions, isMerging);
  if (chance.is(0.8)) clients[0]!.actions.unshift(...actions.load());
  if (isMerging) shrinkBy(merging, clients, actions);
  clearBeside(new Chance(seed, 7), clients, { keyCount, order });
  const grouping = new Chance(seed, 8);
  const groupBy = order === 'key' && !isLong && grouping.is(GROUPED_SHARE) ? '/' : undefined;
  if (groupBy !== undefined) batchBeside(grouping, clients, keyCount);
  if (isMerging && !hasDrops) clients.push({ process: processes - 1, actions: verifications(new Chance(seed, 9)) });
  return {
    seed,
    order,
    groupBy,
    containers: order === 'hash' && chance.is(hasDrops || isMerging ? 0.7 : 0.3) ? 2 + chance.below(14) : 1,
    compression: chance.of(['none', 'none', 'zstd'] as const),
    cacheBytesMax: chance.is(0.3) ? 16 * 1024 : 1024 * 1024,
    ...sizesOf(chance, { isLong, isMerging }),
    keyCount,
    prefixBytes: isLong ? 200 + chance.below(100) : 0,
    latency: chance.of(['even', 'wide', 'uneven'] as const),
    faults: {
      ...faultsOf(chance, [0, 0.3, 0.6]),
      ...(hasDrops && chance.is(0.5) ? SLOW_FAULTS : {}),
    },
    skewsMs: Array.from({ length: processes }, () => (chance.is(0.5) ? 0 : chance.below(290_000))),
    mishaps,
    clients,
  };
}

function clientsOf(chance: Chance, processes: number, actions: ActionSource, isMerging: boolean): Clients {
  const count = (): number => (isMerging ? 8 + chance.below(14) : 5 + chance.below(9));
  return Array.from({ length: processes }, (_, process) => process).flatMap((process) =>
    Array.from({ length: 1 + chance.below(2) }, () => ({ process, actions: actions.draw(count()) })),
  );
}

/** Tiny limits, so that a few records split a leaf. A header always fits into a chunk. */
function sizesOf(
  chance: Chance,
  { isLong, isMerging }: Pick<ActionRules, 'isLong' | 'isMerging'>,
): Pick<Scenario, 'entityBytesMax' | 'chunksMax' | 'chunkBytes'> {
  // Pages of one entry: a branch splits at ten children, a root holds all that a batch makes.
  if (isLong) return { entityBytesMax: 6_000, chunksMax: 14, chunkBytes: 32_768 };
  // Two leaves merge if together they take half of every budget at most. Headers use a part of it.
  if (isMerging) return { entityBytesMax: chance.of([4_000, 6_000, 9_000]), chunksMax: 30, chunkBytes: 32_768 };
  const chunksMax = chance.of([10, 14, 30]);
  if (chance.is(0.1)) return { entityBytesMax: 9_000, chunksMax, chunkBytes: 2_500 };
  return { entityBytesMax: chance.of([2_600, 3_000, 4_000, 6_000]), chunksMax, chunkBytes: 32_768 };
}

/** Each seed has some faults only. If everything fails, little happens. */
export function faultsOf(chance: Chance, shares: readonly number[]): Partial<Record<Fault, number>> {
  const share = chance.of(shares);
  return Object.fromEntries(
    FAULTS.filter(() => chance.is(share)).map((fault) => [fault, chance.of([0.02, 0.06, 0.15])]),
  );
}

export function mishapsOf(chance: Chance, processes: number): Mishap[] {
  return Array.from({ length: chance.of([0, 0, 1, 1, 2, 3]) }, (): Mishap => {
    const kind = chance.weighted({ crash: 5, sleep: 4, clock: 1 });
    const common = { process: chance.below(processes), atCall: chance.below(60) };
    if (kind === 'clock') return { ...common, kind, jumpMs: chance.below(8_000) - 4_000 };
    if (kind === 'crash') return { ...common, kind, isSent: chance.is(0.6), downMs: chance.of([1, 500, 20_000]) };
    const ms = chance.of([2_000, 400_000, (1 + chance.below(5)) * HOUR_MS]);
    return { ...common, kind, ms, monotonicStops: chance.is(0.5) };
  });
}

export function keyName({ prefixBytes, groupBy }: Pick<Scenario, 'prefixBytes' | 'groupBy'>, key: number): string {
  const group = Math.floor(key / KEYS_OF_A_GROUP);
  return `${'x'.repeat(prefixBytes)}k${group}${groupBy ?? ''}${key % KEYS_OF_A_GROUP}`;
}

export function hasDrops(scenario: Scenario): boolean {
  return scenario.clients.some(({ actions }) => actions.some(({ kind }) => kind === 'drop'));
}

type Clients = { readonly process: number; readonly actions: Action[] }[];

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
function shrinkBy(chance: Chance, clients: Clients, actions: ActionSource): void {
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

/** Scenarios with one mishap less, or without one of the faults. */
export function* betterWeather<S extends Weather>(scenario: S): Generator<S> {
  const { mishaps, faults } = scenario;
  for (const at of mishaps.keys()) yield { ...scenario, mishaps: mishaps.toSpliced(at, 1) };
  for (const fault of Object.keys(faults))
    yield { ...scenario, faults: Object.fromEntries(Object.entries(faults).filter(([name]) => name !== fault)) };
}

/** Scenarios with a little less. The largest savings come first. */
export function* smaller(scenario: Scenario): Generator<Scenario> {
  const { clients } = scenario;
  const doing = (index: number, actions: readonly Action[]): Scenario => ({
    ...scenario,
    clients: clients.with(index, { ...clients[index]!, actions }),
  });
  for (const index of clients.keys())
    if (clients.length > 1) yield { ...scenario, clients: clients.toSpliced(index, 1) };
  for (let size = 8; size >= 1; size = Math.floor(size / 2)) {
    for (const [index, { actions }] of clients.entries()) {
      for (let at = 0; at < actions.length; at += size)
        if (size === 1 || actions.length > size) yield doing(index, actions.toSpliced(at, size));
    }
  }
  yield* betterWeather(scenario);
  for (const [index, { actions }] of clients.entries()) {
    for (const [at, action] of actions.entries()) {
      if (!('keys' in action) || action.keys.length < 2) continue;
      const half = action.keys.length / 2;
      for (const keys of [action.keys.slice(half), action.keys.slice(0, half)])
        yield doing(index, actions.with(at, { ...action, keys }));
    }
  }
}
