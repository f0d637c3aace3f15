// The actions of clients, and how a seed draws a client's list of them.
import { chunks } from '../../shared/lab/kit/numbers.ts';
import type { Chance } from './seeded-chance.ts';

interface Base<Kind extends string> {
  readonly kind: Kind;
  /** Its client waits this long before the action. */
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
  /** The scan stops after this many records, and is resumed by its cursor. */
  readonly limit: number | undefined;
  readonly pauseMs: number;
}

/** Clears the keys from one to another (exclusive), in order of keys; undefined: all. */
export interface Clearing extends Base<'clear'> {
  readonly range: readonly [from: number, to: number] | undefined;
}

/** Puts and deletes of distinct keys of one group. */
export interface Batch extends Base<'batch'> {
  readonly parts: readonly { readonly key: number; readonly does: 'put' | 'putIfAbsent' | 'delete' }[];
  readonly bytes: number;
}

export interface Vacuuming extends Base<'vacuum'> {
  /** Leaves that nobody wrote for this long may be merged. */
  readonly quietMs: number;
}

export type OnTable = Vacuuming | Base<'drop'> | Base<'reopen'> | Base<'tables'> | Base<'verify' | 'repair'>;

export type Action = Get | Put | OnKey | OnKeys | PutMany | Scanning | Clearing | Batch | OnTable;
/** Clears, batches and verifications are drawn apart: see `clearBeside`. */
type Drawn = Exclude<Action['kind'], 'clear' | 'batch' | 'verify' | 'repair'>;

/** Without scans and the final reads. history.ts searches the orders of one record's operations. */
const OPERATIONS_OF_A_KEY_MAX = 26;
const SCANS_MAX = 5;
const DROPS_MAX = 4;
/** The share of seeds with clears, and a seed's clears at most. */
const CLEARING_SHARE = 0.25;
const CLEARS_MAX = 3;
/** A seed's batches at most, beside two. */
const BATCHES_MAX = 6;
export const KEYS_OF_A_GROUP = 10;
/** Records of one batch. The root that it splits must hold all separators that come of it. */
const LOAD_KEYS = 20;

const ACTIONS: Readonly<Record<Drawn, number>> = {
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

/** Mostly actions whose outcome depends on the record's state. */
const HOT_ACTIONS: Partial<Record<Drawn, number>> = {
  get: 8,
  put: 6,
  putIfAbsent: 40,
  putIfVersion: 12,
  update: 4,
  delete: 35,
  putMany: 2,
  vacuum: 1,
};

/** Leaves fall empty and are merged while others look for their records. */
const MERGING_ACTIONS: Partial<Record<Drawn, number>> = {
  put: 14,
  delete: 8,
  deleteMany: 8,
  getMany: 7,
  putMany: 9,
  scan: 6,
  vacuum: 14,
};

export interface ActionRules {
  readonly keyCount: number;
  /** Keys are long and values small, so that a root holds all separators that one batch makes. */
  readonly isLong: boolean;
  /** Batches of small records from all over the table. They make layers. */
  readonly isScattered: boolean;
  /** Many calls at once on few records, with short deadlines: one commit changes a record often. */
  readonly isHot: boolean;
  readonly hasTtl: boolean;
  readonly hasDrops: boolean;
  /** Most records are deleted, and vacuum merges the leaves that they leave. */
  readonly isMerging: boolean;
  readonly sleeps: readonly number[];
}

export class ActionSource {
  readonly #chance: Chance;
  readonly #rules: ActionRules;
  readonly #weights: Readonly<Record<Drawn, number>>;
  readonly #uses: number[];
  #scans = 0;
  #drops = 0;

  constructor(chance: Chance, rules: ActionRules) {
    this.#chance = chance;
    this.#rules = rules;
    const favoured = rules.isScattered ? { putMany: 40, deleteMany: 15 } : rules.isHot ? HOT_ACTIONS : {};
    const vacuum = !rules.isHot && chance.is(0.25) ? { vacuum: 30 } : {};
    const merging = rules.isMerging ? MERGING_ACTIONS : {};
    this.#weights = { ...ACTIONS, ...favoured, ...vacuum, ...merging, drop: rules.hasDrops ? 4 : 0 };
    this.#uses = Array.from({ length: rules.keyCount }, () => 0);
  }

  /** Batches that fill the table with all keys. */
  load(bytes = this.#rules.isScattered ? 20 : this.#chance.of([20, 150, 300])): PutMany[] {
    const rest = { kind: 'putMany', ttlMs: undefined, ifAbsent: false, gapMs: 0, timeoutMs: undefined } as const;
    return chunks(this.#allKeys(), LOAD_KEYS).map((keys) => ({ ...rest, keys, bytes }));
  }

  /** Batches that delete 85 % of the records. */
  unload(): OnKeys[] {
    const keys = this.#allKeys().filter(() => this.#chance.is(0.85));
    return chunks(keys, LOAD_KEYS).map((some) => ({ kind: 'deleteMany', gapMs: 0, timeoutMs: undefined, keys: some }));
  }

  /** Reads every record of the table. */
  look(gapMs: number): OnKeys[] {
    return [{ kind: 'getMany', gapMs, timeoutMs: undefined, keys: this.#allKeys() }];
  }

  vacuum(gapMs: number): Vacuuming {
    return { kind: 'vacuum', gapMs, timeoutMs: undefined, quietMs: this.#quietMs() };
  }

  #allKeys(): number[] {
    return [...this.#uses.keys()];
  }

  draw(count: number): Action[] {
    return Array.from({ length: count }, () => this.#action());
  }

  #action(): Action {
    const chance = this.#chance;
    const kind = this.#kind();
    const base = { gapMs: this.#gapMs(), timeoutMs: this.#timeoutMs(kind) };
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
        return { ...base, kind, quietMs: this.#rules.isMerging ? this.#quietMs() : 0 };
      case 'drop':
      case 'reopen':
      case 'tables':
        return { ...base, kind };
      default:
        return kind satisfies never;
    }
  }

  #kind(): Drawn {
    const kind = this.#chance.weighted(this.#weights);
    if (kind === 'scan' && (this.#scans += 1) > SCANS_MAX) return 'vacuum';
    if (kind === 'drop' && (this.#drops += 1) > DROPS_MAX) return 'vacuum';
    return kind;
  }

  /** Mostly short; now and then about as long as a process sleeps. */
  #gapMs(): number {
    const { sleeps } = this.#rules;
    if (sleeps.length > 0 && this.#chance.is(0.08)) return this.#chance.of(sleeps) * this.#chance.share() * 1.2;
    if (this.#rules.isHot) return this.#chance.below(3);
    const most = this.#rules.isMerging ? 500 : 100;
    return this.#chance.of([0, this.#chance.below(10), this.#chance.below(100), this.#chance.below(most)]);
  }

  /** Mostly 0: even leaves that were just written are merged then. */
  #quietMs(): number {
    return this.#chance.of([0, 0, 0, 20, 500, 60_000]);
  }

  /** Hot deletes give up early. The commit that carries them goes on with the other changes. */
  #timeoutMs(kind: Drawn): number | undefined {
    if (this.#rules.isHot && kind === 'delete' && this.#chance.is(0.8)) return 1 + this.#chance.below(9_000);
    return this.#chance.is(0.12) ? 1 + this.#chance.below(600) : undefined;
  }

  #key(): number {
    const { keyCount, isScattered, isHot, isMerging } = this.#rules;
    const favour = isScattered || isMerging ? 0.1 : isHot ? 0.7 : 0.4;
    for (let tries = 0; ; tries += 1) {
      const key = this.#chance.is(favour) ? this.#chance.below(Math.min(3, keyCount)) : this.#chance.below(keyCount);
      if (this.#uses[key]! >= OPERATIONS_OF_A_KEY_MAX && tries < 50) continue;
      this.#uses[key]! += 1;
      return key;
    }
  }

  #keys(): number[] {
    return Array.from({ length: 1 + this.#chance.below(this.#rules.isHot ? 2 : this.#chance.of([3, 8, 20])) }, () =>
      this.#key(),
    );
  }

  #bytes(): number {
    if (this.#rules.isScattered) return this.#chance.below(40);
    // A leaf that outgrows half a container while its neighbour is retired links a copy of that.
    if (this.#rules.isMerging && !this.#rules.isLong)
      return this.#chance.below(this.#chance.of([30, 200, 1_500, 2_000]));
    return this.#chance.below(this.#chance.of(this.#rules.isLong ? [30, 300] : [30, 200, 500, 500, 3_500]));
  }

  #ttlMs(): number | undefined {
    if (!this.#rules.hasTtl || this.#chance.is(0.5)) return undefined;
    return 1 + this.#chance.below(this.#chance.of([100, 2_000, 400_000]));
  }
}

/** The options that are given: without those that are undefined. */
export function given<O extends object>(options: O): { [Name in keyof O]?: Exclude<O[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof given<O>
  >;
}

/** Adds batches to some clients. Some of their conditions fail. */
export function batchBeside(
  chance: Chance,
  clients: readonly { readonly actions: Action[] }[],
  keyCount: number,
): void {
  for (let count = 2 + chance.below(BATCHES_MAX); count > 0; count -= 1) {
    const { actions } = chance.of(clients);
    const first = KEYS_OF_A_GROUP * chance.below(Math.ceil(keyCount / KEYS_OF_A_GROUP));
    const keys = Array.from({ length: Math.min(KEYS_OF_A_GROUP, keyCount - first) }, (_, at) => first + at);
    const parts = keys
      .filter(() => chance.is(0.5))
      .map((key) => ({ key, does: chance.weighted({ put: 8, delete: 3, putIfAbsent: 1 }) }));
    const timeoutMs = chance.is(0.15) ? 1 + chance.below(600) : undefined;
    const batch: Batch = {
      kind: 'batch',
      gapMs: chance.below(100),
      timeoutMs,
      parts,
      bytes: chance.of([20, 100, 300]),
    };
    actions.splice(chance.below(actions.length + 1), 0, batch);
  }
}

/** Adds to some clients that they clear the table, or a range of it. */
export function clearBeside(
  chance: Chance,
  clients: readonly { readonly actions: Action[] }[],
  { keyCount, order }: { readonly keyCount: number; readonly order: 'hash' | 'key' },
): void {
  if (!chance.is(CLEARING_SHARE)) return;
  for (let count = 1 + chance.below(CLEARS_MAX); count > 0; count -= 1) {
    const { actions } = chance.of(clients);
    const from = chance.below(keyCount);
    const range =
      order === 'key' && chance.is(0.6) ? ([from, from + 1 + chance.below(keyCount - from)] as const) : undefined;
    const timeoutMs = chance.is(0.2) ? 1 + chance.below(600) : undefined;
    const clear: Clearing = { kind: 'clear', gapMs: chance.below(100), timeoutMs, range };
    actions.splice(chance.below(actions.length + 1), 0, clear);
  }
}

/** Verifications of a table that others write to, and merge. Some are of a repair. */
export function verifications(chance: Chance): Action[] {
  return Array.from({ length: 2 + chance.below(4) }, () => ({
    kind: chance.of(['verify', 'verify', 'repair'] as const),
    gapMs: chance.below(chance.of([20, 1_000, 5_000])),
    timeoutMs: undefined,
  }));
}
