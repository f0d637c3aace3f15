// A change of a record or a routing entry, a clear or a batch: from the call to its verdict.
import type { EntityId } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Order } from '../contract/options.ts';
import type { OperationTrace } from '../contract/trace.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { StoredRecord } from '../format/page-body.ts';
import type { Position, UpperBound } from '../format/position.ts';

/** What happens to the record. `none` leaves it as it is, as a failure if there is an `error`. */
export type Decision =
  | {
      readonly kind: 'write';
      readonly codec: number;
      readonly value: Uint8Array;
      readonly expiresAtMs: number | undefined;
    }
  | { readonly kind: 'remove' }
  | { readonly kind: 'none'; readonly error?: unknown };

/** Removes all records from the change's position to `end`, as far as the leaf reaches. */
export interface Clearing {
  readonly kind: 'clear';
  readonly end: UpperBound;
  /** If this is not the table's incarnation, nothing is removed. Undefined stands for any. */
  readonly incarnation: Id64 | undefined;
}

/** Changes of one group, sorted by position, that take effect together or not at all. */
export interface Batch {
  readonly kind: 'batch';
  readonly groupBy: string;
  /** These are never settled themselves; the batch's verdict has theirs. */
  readonly parts: readonly Change[];
}

/** How a change ended. `record` is the record after it; undefined if absent. */
export type Verdict =
  | {
      readonly kind: 'applied';
      readonly incarnation: Id64;
      readonly version: number;
      readonly record: StoredRecord | undefined;
      /** Of a clear: how many records that had not expired it removed, and up to where. */
      readonly cleared?: { readonly count: number; readonly reached: UpperBound };
      /** Of a batch, one per part. */
      readonly parts?: readonly Verdict[];
    }
  | { readonly kind: 'unchanged'; readonly incarnation: Id64; readonly record: StoredRecord | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Decides by the present record, absent if expired. May be called repeatedly; must not await. */
export type Decide = (current: StoredRecord | undefined, incarnation: Id64) => Decision;

/** A decision that does not depend on the record, so that nothing is read, or a function of it. */
export type Action = Decision | Decide;

/** Gets each verdict of a call once. It must not throw, as it is called within a shared commit. */
export interface VerdictSink {
  settled(index: number, verdict: Verdict): void;
}

/** What a change is made of. One without `dueMs`, as an entry repair, has no waiting caller. */
type ChangeInit = Pick<Change, 'position' | 'key' | 'order' | 'level' | 'action' | 'bytes' | 'begunTick'> & {
  readonly dueMs?: number;
  readonly whole?: Clearing | Batch | undefined;
  readonly operation?: OperationTrace | undefined;
  readonly sink: VerdictSink;
  readonly index: number;
};

export class Change {
  readonly position: Position;
  readonly key: Uint8Array;
  /** The order that its position was made for; undefined for a routing entry. */
  readonly order: Order | undefined;
  /** 0 for a record; the level of the branch for a routing entry. */
  readonly level: number;
  readonly action: Action;
  /** A change of several records, in place of `action`. */
  readonly whole: Clearing | Batch | undefined;
  /** How many bytes it counts against the bound of the queues. */
  readonly bytes: number;
  /** The clock's tick when the call began. A negative verdict needs a read after it (rule 6). */
  readonly begunTick: number;
  /** When the call ends, by the monotonic clock. */
  readonly dueMs: number;
  /** The call, if it is traced. */
  readonly operation: OperationTrace | undefined;
  /** How many unsettled attempts carry it. */
  openAttempts = 0;
  /** How many of these may have been applied: all but those that were cleared. */
  doubtfulAttempts = 0;
  /** The container to which it was last sent, if any. */
  sentTo: EntityId | undefined;
  /** The low of the rightmost container from which it was routed to the right, if any. */
  passedLow: Position | undefined;
  /** The error with which the provider throttles its attempts, if it does. */
  throttling: StoreError | undefined;
  /** How often it was routed to another container, and how often it met a missing one. */
  reroutes = 0;
  misses = 0;
  /** When it entered its present queue, by the monotonic clock. */
  queuedMs = 0;
  /** How many commits that carried it were refused. */
  refusals = 0;
  readonly #index: number;
  #sink: VerdictSink | undefined;

  constructor(asked: ChangeInit) {
    this.position = asked.position;
    this.key = asked.key;
    this.order = asked.order;
    this.level = asked.level;
    this.action = asked.action;
    this.whole = asked.whole;
    this.bytes = asked.bytes;
    this.begunTick = asked.begunTick;
    this.dueMs = asked.dueMs ?? Infinity;
    this.operation = asked.operation;
    this.#index = asked.index;
    this.#sink = asked.sink;
  }

  /** Whether it is a routing entry. Its loss costs little, so it is dropped after most errors. */
  get isEntryRepair(): boolean {
    return this.order === undefined;
  }

  /** Whether it does not depend on the present record, so that nothing has to be read for it. */
  get isBlind(): boolean {
    return typeof this.action !== 'function';
  }

  /** Whether the caller has its answer. */
  get isSettled(): boolean {
    return this.#sink === undefined;
  }

  /** Answers the caller. Further calls have no effect. */
  settle(verdict: Verdict): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.settled(this.#index, verdict);
  }
}

/** The changes with each batch replaced by its parts, in the same order. */
export function singles(changes: readonly Change[]): readonly Change[] {
  if (changes.every(({ whole }) => whole === undefined)) return changes;
  return changes.flatMap((change) => (change.whole?.kind === 'batch' ? change.whole.parts : [change]));
}

/** A change of a routing entry. */
export function entryChange({
  separator,
  ...rest
}: Omit<ChangeInit, 'position' | 'key' | 'order' | 'bytes'> & { readonly separator: Position }): Change {
  return new Change({ ...rest, position: separator, key: separator, order: undefined, bytes: 0 });
}

/** Compares positions. A stable sort by it keeps changes of one position in the order of effect. */
export function byPosition(a: { readonly position: Position }, b: { readonly position: Position }): number {
  return compareBytes(a.position, b.position);
}
