// A scenario: everything that one run is, as plain data drawn from a seed. What is data can be left out piece by piece until only the
// cause of a failure is left.
import { Chance } from './chance.ts';

/** What may go wrong with a request. */
export const FAULTS = [
  'throttled before applying',
  'failed before applying',
  'reply lost after applying',
  'applied long after failing',
  'applied twice',
  'slow on the way',
  'slow to reply',
  'part of a train applied',
  'spurious conflict',
  'refused for its size',
  'read piecemeal',
  'empty page of a listing',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Something that happens to a process as it makes its `atCall`-th request. */
export type Mishap = { readonly process: number; readonly atCall: number } & (
  | { readonly kind: 'crash'; readonly isSent: boolean; readonly downMs: number }
  | { readonly kind: 'sleep'; readonly ms: number; readonly monotonicStops: boolean }
  | { readonly kind: 'clock'; readonly jumpMs: number }
);

interface Base<Kind extends string> {
  readonly kind: Kind;
  /** Its client waits so long before it. */
  readonly gapMs: number;
  readonly timeoutMs: number | undefined;
}

export interface Get extends Base<'get'> {
  readonly key: number;
  readonly maxAgeMs: number | undefined;
}

export interface Put extends Base<'put' | 'putIfAbsent' | 'putIfVersion' | 'update'> {
  readonly key: number;
  readonly bytes: number;
  readonly ttlMs: number | undefined;
}

export interface OnKey extends Base<'updateNothing' | 'updateThrows' | 'delete' | 'deleteIfVersion'> {
  readonly key: number;
}

export interface OnKeys extends Base<'getMany' | 'deleteMany'> {
  readonly keys: readonly number[];
}

export interface PutMany extends Base<'putMany'> {
  readonly keys: readonly number[];
  readonly bytes: number;
  readonly ttlMs: number | undefined;
  readonly ifAbsent: boolean;
}

export interface Scanning extends Base<'scan'> {
  /** The scan is given up after so many records, and resumed by its cursor. */
  readonly limit: number | undefined;
  readonly pauseMs: number;
}

export type OnTable = Base<'vacuum' | 'drop' | 'reopen' | 'tables'>;

export type Action = Get | Put | OnKey | OnKeys | PutMany | Scanning | OnTable;
export type ActionKind = Action['kind'];

/** Milliseconds that requests take, one way. */
export type Latency = 'even' | 'wide' | 'uneven';

export interface Scenario {
  readonly seed: number;
  readonly order: 'hash' | 'key';
  /** Leaves the table begins with. */
  readonly containers: number;
  readonly compression: 'none' | 'zstd' | 'deflate';
  readonly entityBytesMax: number;
  readonly chunksMax: number;
  readonly chunkBytes: number;
  readonly keyCount: number;
  /** All keys begin with so many equal bytes: separators are long, and branches split. */
  readonly prefixBytes: number;
  readonly latency: Latency;
  readonly faults: Partial<Record<Fault, number>>;
  /** How far each process's wall clock is ahead. */
  readonly skewsMs: readonly number[];
  readonly mishaps: readonly Mishap[];
  readonly clients: readonly { readonly process: number; readonly actions: readonly Action[] }[];
}

const HOUR_MS = 3_600_000;
const PURGE_MS = 800_000;
/** Operations on one record, beside scans and what is read in the end: their orders are searched. */
const OPERATIONS_OF_A_KEY_MAX = 26;
const SCANS_MAX = 5;
const DROPS_MAX = 4;
/** Records of one batch: the root it splits must hold the separators of what comes of it. */
const LOAD_KEYS = 20;

const ACTIONS: Readonly<Record<ActionKind, number>> = {
  get: 24,
  put: 20,
  putIfAbsent: 7,
  putIfVersion: 7,
  update: 10,
  updateNothing: 2,
  updateThrows: 2,
  delete: 7,
  deleteIfVersion: 3,
  getMany: 4,
  putMany: 7,
  deleteMany: 2,
  scan: 3,
  vacuum: 3,
  drop: 0,
  reopen: 1,
  tables: 0.5,
};

export function scenarioOf(seed: number): Scenario {
  const chance = new Chance(seed, 1);
  const processes = 2 + chance.below(2);
  const order = chance.of(['hash', 'key'] as const);
  const isLong = order === 'key' && chance.is(0.4);
  const isScattered = !isLong && chance.is(0.25);
  const hasTtl = chance.is(0.3);
  const hasDrops = chance.is(0.2);
  const mishaps = mishapsOf(chance, processes);
  const sleeps = mishaps.flatMap((mishap) => (mishap.kind === 'sleep' ? [mishap.ms] : []));
  // Expired records are purged after minutes: someone must come back then.
  if (hasTtl) sleeps.push(PURGE_MS);
  const keyCount = chance.of(isLong ? [24, 60, 60] : isScattered ? [40, 80] : [3, 12, 24, 40]);
  const actions = new ActionSource(chance, { keyCount, isScattered, hasTtl, hasDrops, sleeps });
  const clients = Array.from({ length: processes }, (_, process) => process).flatMap((process) =>
    Array.from({ length: 1 + chance.below(2) }, () => ({ process, actions: actions.draw(5 + chance.below(9)) })),
  );
  if (chance.is(0.8)) clients[0]!.actions.unshift(...actions.load());
  return {
    seed,
    order,
    containers: order === 'hash' && chance.is(0.3) ? 2 + chance.below(14) : 1,
    compression: chance.of(['none', 'none', 'none', 'zstd', 'deflate'] as const),
    ...sizesOf(chance, isLong, isScattered),
    keyCount,
    prefixBytes: isLong ? 200 + chance.below(100) : 0,
    latency: chance.of(['even', 'wide', 'uneven'] as const),
    faults: faultsOf(chance),
    skewsMs: Array.from({ length: processes }, () => (chance.is(0.5) ? 0 : chance.below(290_000))),
    mishaps,
    clients,
  };
}

/** Tiny limits, so that a few records split. A header, as everywhere, fits into a chunk. */
function sizesOf(
  chance: Chance,
  isLong: boolean,
  isScattered: boolean,
): Pick<Scenario, 'entityBytesMax' | 'chunksMax' | 'chunkBytes'> {
  // Pages of one entry each: a branch splits at some ten children, and a root holds what one batch makes of it.
  if (isLong) return { entityBytesMax: 6_000, chunksMax: 14, chunkBytes: 32_768 };
  if (isScattered) return { entityBytesMax: chance.of([6_000, 9_000]), chunksMax: 30, chunkBytes: 32_768 };
  const chunksMax = chance.of([10, 14, 30]);
  if (chance.is(0.1)) return { entityBytesMax: 9_000, chunksMax, chunkBytes: 2_500 };
  return { entityBytesMax: chance.of([2_600, 3_000, 4_000, 6_000]), chunksMax, chunkBytes: 32_768 };
}

/** Of each seed some faults only: where everything fails, little happens. */
function faultsOf(chance: Chance): Partial<Record<Fault, number>> {
  const share = chance.of([0, 0.3, 0.6]);
  return Object.fromEntries(
    FAULTS.filter(() => chance.is(share)).map((fault) => [fault, chance.of([0.02, 0.06, 0.15])]),
  );
}

function mishapsOf(chance: Chance, processes: number): Mishap[] {
  const process = (): number => chance.below(processes);
  const atCall = (): number => chance.below(60);
  const draw: Record<Mishap['kind'], () => Mishap> = {
    crash: () => ({
      kind: 'crash',
      process: process(),
      atCall: atCall(),
      isSent: chance.is(0.6),
      downMs: chance.of([1, 500, 20_000]),
    }),
    sleep: () => ({
      kind: 'sleep',
      process: process(),
      atCall: atCall(),
      ms: chance.of([2_000, 400_000, (1 + chance.below(5)) * HOUR_MS]),
      monotonicStops: chance.is(0.5),
    }),
    clock: () => ({ kind: 'clock', process: process(), atCall: atCall(), jumpMs: chance.below(8_000) - 4_000 }),
  };
  return Array.from({ length: chance.of([0, 0, 1, 1, 2, 3]) }, () =>
    draw[chance.weighted({ crash: 5, sleep: 4, clock: 1 })](),
  );
}

interface ActionRules {
  readonly keyCount: number;
  /** Small records, many to a page, written in batches from all over the table: they make layers. */
  readonly isScattered: boolean;
  readonly hasTtl: boolean;
  readonly hasDrops: boolean;
  readonly sleeps: readonly number[];
}

class ActionSource {
  readonly #chance: Chance;
  readonly #rules: ActionRules;
  readonly #weights: Readonly<Record<ActionKind, number>>;
  readonly #uses: number[];
  #scans = 0;
  #drops = 0;

  constructor(chance: Chance, rules: ActionRules) {
    this.#chance = chance;
    this.#rules = rules;
    const batches = rules.isScattered ? { putMany: 40, deleteMany: 15 } : {};
    this.#weights = { ...ACTIONS, ...batches, drop: rules.hasDrops ? 4 : 0 };
    this.#uses = Array.from({ length: rules.keyCount }, () => 0);
  }

  /** Batches that fill the table, of all keys. */
  load(): PutMany[] {
    const keys = this.#uses.map((_, key) => key);
    const rest = { kind: 'putMany', ttlMs: undefined, ifAbsent: false, gapMs: 0, timeoutMs: undefined } as const;
    const bytes = this.#rules.isScattered ? 20 : this.#chance.of([20, 150, 300]);
    const batches = Array.from({ length: Math.ceil(keys.length / LOAD_KEYS) }, (_, at) =>
      keys.slice(LOAD_KEYS * at, LOAD_KEYS * (at + 1)),
    );
    return batches.map((batch) => ({ ...rest, keys: batch, bytes }));
  }

  draw(count: number): Action[] {
    return Array.from({ length: count }, () => this.#action());
  }

  #action(): Action {
    const chance = this.#chance;
    const base = { gapMs: this.#gapMs(), timeoutMs: chance.is(0.12) ? 1 + chance.below(600) : undefined };
    const kind = this.#kind();
    switch (kind) {
      case 'get':
        return {
          ...base,
          kind,
          key: this.#key(),
          maxAgeMs: chance.is(0.25) ? chance.of([20, 500, 10_000]) : undefined,
        };
      case 'put':
      case 'putIfAbsent':
      case 'putIfVersion':
      case 'update':
        return { ...base, kind, key: this.#key(), bytes: this.#bytes(), ttlMs: this.#ttlMs() };
      case 'updateNothing':
      case 'updateThrows':
      case 'delete':
      case 'deleteIfVersion':
        return { ...base, kind, key: this.#key() };
      case 'getMany':
      case 'deleteMany':
        return { ...base, kind, keys: this.#keys() };
      case 'putMany':
        return {
          ...base,
          kind,
          keys: this.#keys(),
          bytes: this.#bytes(),
          ttlMs: this.#ttlMs(),
          ifAbsent: chance.is(0.2),
        };
      case 'scan':
        return {
          ...base,
          kind,
          limit: chance.is(0.5) ? 1 + chance.below(6) : undefined,
          pauseMs: chance.of([0, 0, 30, 1_000]),
        };
      case 'vacuum':
      case 'drop':
      case 'reopen':
      case 'tables':
        return { ...base, kind };
      default:
        return kind satisfies never;
    }
  }

  #kind(): ActionKind {
    const kind = this.#chance.weighted(this.#weights);
    if (kind === 'scan' && (this.#scans += 1) > SCANS_MAX) return 'vacuum';
    if (kind === 'drop' && (this.#drops += 1) > DROPS_MAX) return 'vacuum';
    return kind;
  }

  /** Mostly close together; now and then as long as a process sleeps. */
  #gapMs(): number {
    const { sleeps } = this.#rules;
    if (sleeps.length > 0 && this.#chance.is(0.08)) return this.#chance.of(sleeps) * this.#chance.share() * 1.2;
    return this.#chance.of([0, this.#chance.below(10), this.#chance.below(100), this.#chance.below(100)]);
  }

  #key(): number {
    for (let tries = 0; ; tries += 1) {
      const key = this.#chance.is(this.#rules.isScattered ? 0.1 : 0.4)
        ? this.#chance.below(3)
        : this.#chance.below(this.#rules.keyCount);
      if (this.#uses[key]! >= OPERATIONS_OF_A_KEY_MAX && tries < 50) continue;
      this.#uses[key]! += 1;
      return key;
    }
  }

  #keys(): number[] {
    return Array.from({ length: 1 + this.#chance.below(this.#chance.of([3, 8, 20])) }, () => this.#key());
  }

  #bytes(): number {
    if (this.#rules.isScattered) return this.#chance.below(40);
    return this.#chance.below(this.#chance.of([30, 200, 500, 500, 3_500]));
  }

  #ttlMs(): number | undefined {
    if (!this.#rules.hasTtl || this.#chance.is(0.5)) return undefined;
    return 1 + this.#chance.below(this.#chance.of([100, 2_000, 400_000]));
  }
}
