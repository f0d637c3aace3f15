// A change of one record, or of one routing entry, from the call to its verdict.
import type { Order } from '../contract/options.ts';
import type { EntityId } from '../contract/driver.ts';
import type { StoreError } from '../contract/errors.ts';
import type { OperationTrace } from '../contract/trace.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { Position, UpperBound } from '../format/position.ts';
import type { StoredRecord } from '../format/stored-record.ts';

/** The effect on the record. `none` is a negative verdict, with an error or without. */
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
  /** Nothing is removed from a table of another incarnation. Undefined: of whichever there is. */
  readonly incarnation: Id64 | undefined;
}

/** Changes of one group, in order of position, that take effect together or not at all. */
export interface Batch {
  readonly kind: 'batch';
  readonly groupBy: string;
  /** Nobody settles these: the batch has the verdict. */
  readonly parts: readonly Change[];
}

/** How a change ended. `record` is the record as it then stands. */
export type Verdict =
  | {
      readonly kind: 'applied';
      readonly incarnation: Id64;
      readonly version: number;
      readonly record: StoredRecord | undefined;
      /** A clearing's. */
      readonly cleared?: Cleared;
      /** A batch's, one for each part. */
      readonly parts?: readonly Verdict[];
    }
  | { readonly kind: 'unchanged'; readonly incarnation: Id64; readonly record: StoredRecord | undefined }
  | { readonly kind: 'failed'; readonly error: unknown };

/** How many records that lived were removed up to `reached`; undefined: to the last. */
export interface Cleared {
  readonly count: number;
  readonly reached: UpperBound;
}

/** Decides from the present record (expired: absent). May run often; must not await. */
export type Decide = (current: StoredRecord | undefined, incarnation: Id64) => Decision;

/** A decision made beforehand, for which nothing is read, or a function of the record. */
export type Action = Decision | Decide;

/** Hears each verdict of a call, once, within a shared commit: it must not throw. */
export interface VerdictSink {
  settled(index: number, verdict: Verdict): void;
}

/** The members that a change is made of. Without `dueMs` nobody waits for it, as for a hint. */
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
  /** The order of its position; undefined for a routing entry, which has none. */
  readonly order: Order | undefined;
  /** 0 for a record; the level of the branch for a routing entry. */
  readonly level: number;
  readonly action: Action;
  /** Work on several records, in place of the action. */
  readonly whole: Clearing | Batch | undefined;
  /** Bytes it counts against the bound of the queues. */
  readonly bytes: number;
  /** The clock's tick when the call began: a negative verdict needs evidence from after it. */
  readonly begunTick: number;
  /** When the call ends, by the monotonic clock. */
  readonly dueMs: number;
  /** The call, if somebody traces. */
  readonly operation: OperationTrace | undefined;
  /** Attempts under which it was sent and which are not settled. */
  openAttempts = 0;
  /** All of these but what a read cleared after it was throttled: they may have been applied. */
  doubtfulAttempts = 0;
  /** The container it was sent to last; undefined before. */
  sentTo: EntityId | undefined;
  /** The low of the rightmost container that sent it on to the right; undefined before. */
  passed: Position | undefined;
  /** Why the provider throttles its attempts; undefined if it does not. */
  throttling: StoreError | undefined;
  /** How often it was sent on to another container, and how often it met a missing one. */
  reroutes = 0;
  misses = 0;
  /** When it came to the queue that it is in, by the monotonic clock. */
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

  /** A routing entry, whose loss costs little: dropped at the first trouble. */
  get isHint(): boolean {
    return this.order === undefined;
  }

  /** Whether the present record makes no difference: then nothing needs to be read for it. */
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

/** The changes of single records, batches by their parts: in order if the changes are. */
export function singles(changes: readonly Change[]): readonly Change[] {
  if (changes.every(({ whole }) => whole === undefined)) return changes;
  return changes.flatMap((change) => (change.whole?.kind === 'batch' ? change.whole.parts : [change]));
}

export function entryChange({
  separator,
  ...rest
}: Omit<ChangeInit, 'position' | 'key' | 'order' | 'bytes'> & { readonly separator: Position }): Change {
  return new Change({ ...rest, position: separator, key: separator, order: undefined, bytes: 0 });
}

/** A stable sort by it keeps changes of one position in the order they take effect. */
export function byPosition(a: { readonly position: Position }, b: { readonly position: Position }): number {
  return compareBytes(a.position, b.position);
}
