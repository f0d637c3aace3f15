// A change: one put, delete or update of one record (or one routing entry of a branch), from the call to its verdict.
import type { Order } from './api.ts';
import type { Position } from './position.ts';
import type { StoredRecord } from './page.ts';
import type { Id64 } from './bytes.ts';

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

export class Change {
  readonly position: Position;
  readonly key: Uint8Array;
  /** The order its position was computed for; undefined for a routing entry, whose position is a separator of its table as it is. */
  readonly order: Order | undefined;
  /** 0 for a record; the level of the branch for a routing entry. */
  readonly level: number;
  readonly decide: Decide;
  /** Whether `decide` gives the same whatever it is shown: then nothing needs to be read for it. */
  readonly isBlind: boolean;
  /** What it counts against the bound of the queues. */
  readonly bytes: number;
  /** The clock's tick when the call began: a negative verdict needs evidence from after it. */
  readonly begunTick: number;
  /** Attempts under which it was sent and which are not settled. */
  openAttempts = 0;
  /** How often it was sent on to another container, and how often it met a missing one. */
  reroutes = 0;
  misses = 0;
  /** A hint whose loss costs nothing: dropped at the first conflict, never retried. */
  readonly isHint: boolean;
  #settle: ((verdict: Verdict) => void) | undefined;

  constructor(options: {
    position: Position;
    key: Uint8Array;
    order: Order | undefined;
    level: number;
    decide: Decide;
    isBlind: boolean;
    bytes: number;
    begunTick: number;
    isHint: boolean;
    settle: (verdict: Verdict) => void;
  }) {
    this.position = options.position;
    this.key = options.key;
    this.order = options.order;
    this.level = options.level;
    this.decide = options.decide;
    this.isBlind = options.isBlind;
    this.bytes = options.bytes;
    this.begunTick = options.begunTick;
    this.isHint = options.isHint;
    this.#settle = options.settle;
  }

  /** Whether its caller has had an answer. */
  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  /** Answers the caller, once. */
  settle(verdict: Verdict): void {
    const settle = this.#settle;
    this.#settle = undefined;
    settle?.(verdict);
  }
}
