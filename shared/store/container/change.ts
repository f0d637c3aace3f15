// A change: one put, delete or update of one record (or one routing entry of a branch), from the call to its verdict.
import type { Order } from '../contract/options.ts';
import type { EntityId } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';
import type { StoredRecord } from '../format/record.ts';

/** What a change makes of the present record. `none` changes nothing: a negative verdict, with an error or without. */
export type Decision =
  | {
      readonly kind: 'write';
      readonly codec: number;
      readonly value: Uint8Array;
      readonly expiresAtMs: number | undefined;
    }
  | { readonly kind: 'remove' }
  | { readonly kind: 'none'; readonly error?: unknown };

/** How a change ended. `record` is the record as it then stands. */
export type Verdict =
  | {
      readonly kind: 'applied';
      readonly incarnation: Id64;
      readonly version: number;
      readonly record: StoredRecord | undefined;
    }
  | { readonly kind: 'unchanged'; readonly incarnation: Id64; readonly record: StoredRecord | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Decides from the present record (expired ones are absent) and its table's incarnation. May run several times; must not await. */
export type Decide = (current: StoredRecord | undefined, incarnation: Id64) => Decision;

/** What a change asks for: a decision made beforehand, for which no record needs to be read, or a function of the present record. */
export type Action = Decision | Decide;

/** Hears the verdict on each change of a call, once, within a commit that others share: it must not throw. `index` is the one the change was made with. */
export interface VerdictSink {
  settled(index: number, verdict: Verdict): void;
}

export interface ChangeOptions {
  readonly position: Position;
  readonly key: Uint8Array;
  /** The order its position was computed for; undefined for a routing entry, whose position is a separator of its table as it is. */
  readonly order: Order | undefined;
  /** 0 for a record; the level of the branch for a routing entry. */
  readonly level: number;
  readonly action: Action;
  /** Bytes it counts against the bound of the queues. */
  readonly bytes: number;
  /** The clock's tick when the call began: a negative verdict needs evidence from after it. */
  readonly begunTick: number;
  /** When the call ends, by the monotonic clock. Default: nobody waits, as for a hint. */
  readonly dueMs?: number;
  readonly sink: VerdictSink;
  readonly index: number;
}

export class Change {
  readonly position: Position;
  readonly key: Uint8Array;
  readonly order: Order | undefined;
  readonly level: number;
  readonly action: Action;
  readonly bytes: number;
  readonly begunTick: number;
  readonly dueMs: number;
  /** Attempts under which it was sent and which are not settled. */
  openAttempts = 0;
  /** Those of them that may have been applied, for all that was seen: all but what a read cleared after it was turned away. */
  doubtfulAttempts = 0;
  /** The container it was sent to last; undefined before. */
  sentTo: EntityId | undefined;
  /** The low of the rightmost container that sent it on to the right; undefined before. */
  passed: Position | undefined;
  /** Why the provider turns away what is sent for it; undefined if it does not. */
  turnedAway: StoreError | undefined;
  /** How often it was sent on to another container, and how often it met a missing one. */
  reroutes = 0;
  misses = 0;
  /** How many commits that carried it were refused. */
  refusals = 0;
  readonly #index: number;
  #sink: VerdictSink | undefined;

  constructor(options: ChangeOptions) {
    this.position = options.position;
    this.key = options.key;
    this.order = options.order;
    this.level = options.level;
    this.action = options.action;
    this.bytes = options.bytes;
    this.begunTick = options.begunTick;
    this.dueMs = options.dueMs ?? Infinity;
    this.#index = options.index;
    this.#sink = options.sink;
  }

  /** A routing entry, whose loss costs little: dropped at the first trouble, and after a few conflicts. */
  get isHint(): boolean {
    return this.order === undefined;
  }

  /** Whether the present record makes no difference to the change: then nothing needs to be read for it. */
  get isBlind(): boolean {
    return typeof this.action !== 'function';
  }

  /** Whether the caller has had an answer. */
  get isSettled(): boolean {
    return this.#sink === undefined;
  }

  /** Answers the caller, once. */
  settle(verdict: Verdict): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.settled(this.#index, verdict);
  }
}

/** A change of the routing entry at `separator`. */
export function entryChange({
  separator,
  ...rest
}: Omit<ChangeOptions, 'position' | 'key' | 'order' | 'bytes'> & { readonly separator: Position }): Change {
  return new Change({ ...rest, position: separator, key: separator, order: undefined, bytes: 0 });
}

/** Order of positions; a stable sort by it keeps changes of one position in the order they take effect. */
export function byPosition(a: { readonly position: Position }, b: { readonly position: Position }): number {
  return compareBytes(a.position, b.position);
}
