// Writing what a call asks for: its items become changes, the changes go to the queues of their containers, and every item gets its verdict,
// at the latest when the deadline passes.
import { unknownFate } from '../container/attempts.ts';
import { Change, type Verdict, type VerdictSink } from '../container/change.ts';
import type { CallOptions, Order } from '../contract/api.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { encodeKey, type PositionOf, positionsOf, type Position } from '../format/position.ts';
import { abortedError, type Deadline, type Deadlines } from '../io/deadline.ts';
import type { Prepared } from './actions.ts';
import type { Admission, Ticket } from './admission.ts';
import { wavesOf } from './write-order.ts';

/** Changes handed to the queues at a time, so that a large batch takes its turns. */
const SLICE_COUNT = 5_000;
/** Memory that a change takes beside its key and value, roughly. */
const CHANGE_OVERHEAD_BYTES = 200;

/** One call's items, and what is made of each. */
export interface WriteBatch<T extends Keyed, O> {
  readonly items: readonly T[];
  /** What the item asks for. Throws if that makes no sense: then the item fails with what was thrown. */
  readonly prepare: (item: T) => Prepared;
  readonly outcome: (item: T, verdict: Verdict) => O;
  readonly options: CallOptions | undefined;
}

export interface WriterContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}

export class Writer {
  readonly #context: WriterContext;
  readonly #positionOf: PositionOf;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#positionOf = positionsOf(context.order, 0);
  }

  /** An outcome for each item, in order. Writes in waves of distinct keys, so that equal keys take effect in the order given. */
  async write<T extends Keyed, O>(batch: WriteBatch<T, O>): Promise<O[]> {
    const { items, options } = batch;
    const { deadlines, engine, order } = this.#context;
    const deadline = deadlines.begin(options);
    const { turns } = engine;
    // No await before a lone item is encoded: its caller may change the value as soon as it has the promise.
    const isLone = items.length === 1;
    const places = isLone ? [] : await turns.map(items, ({ key }) => this.#tryPlace(key));
    const waves = isLone ? [[0]] : await wavesOf(places, order, turns);
    // At full length from the start: filled from the middle it would become a slow table of indexes.
    const outcomes = Array.from<O>({ length: items.length });
    for (const wave of waves) {
      for (let first = 0; first < wave.length; first += SLICE_COUNT) {
        const slice = new Slice(batch, wave.slice(first, first + SLICE_COUNT), places, outcomes);
        await this.#writeSlice(slice, batch, deadline);
      }
    }
    return outcomes;
  }

  /** Undefined for a key that has no place: its verdict says so when its turn comes. */
  #tryPlace(key: string): Place | undefined {
    try {
      return this.#placeOf(key);
    } catch {
      return undefined;
    }
  }

  #placeOf(text: string): Place {
    const key = encodeKey(text, this.#context.engine.table);
    return { key, position: this.#positionOf(key) };
  }

  /** The change that an item asks for; undefined if that makes no sense: then the item has its verdict. */
  #prepare<T extends Keyed, O>(
    slice: Slice<T, O>,
    index: number,
    batch: WriteBatch<T, O>,
    call: Pick<Change, 'begunTick' | 'dueMs'>,
  ) {
    const { order } = this.#context;
    try {
      const item = batch.items[index]!;
      const { key, position } = slice.takePlace(index) ?? this.#placeOf(item.key);
      const { action, bytes } = batch.prepare(item);
      const cost = bytes + key.length + CHANGE_OVERHEAD_BYTES;
      return new Change({
        key,
        position,
        order,
        level: 0,
        action,
        bytes: cost,
        ...call,
        sink: slice,
        index,
      });
    } catch (error) {
      if (error instanceof TypeError) throw error;
      slice.settled(index, { kind: 'failed', error });
      return undefined;
    }
  }

  async #writeSlice<T extends Keyed, O>(
    slice: Slice<T, O>,
    batch: WriteBatch<T, O>,
    deadline: Deadline,
  ): Promise<void> {
    const { engine, deadlines } = this.#context;
    const call = { begunTick: engine.clock.now().tick, dueMs: deadline.dueMs };
    const changes: Change[] = [];
    let bytes = 0;
    for (let count = 0; count < slice.indexes.length; count += 1) {
      const isLong = engine.turns.isLongAt(count, bytes);
      if (isLong) await engine.turns.pause();
      // Nothing of this slice was sent yet.
      if ((isLong || count === 0) && deadlines.isOver(deadline))
        return slice.failRest(abortedError(deadline.signal?.reason));
      const change = this.#prepare(slice, slice.indexes[count]!, batch, call);
      bytes = change?.bytes ?? 0;
      if (change !== undefined) changes.push(change);
    }
    if (changes.length > 0) await this.#writeChanges(slice, changes, deadline);
  }

  async #writeChanges<T extends Keyed, O>(
    slice: Slice<T, O>,
    changes: readonly Change[],
    deadline: Deadline,
  ): Promise<void> {
    const { engine, admission, deadlines } = this.#context;
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    const unwatch = deadlines.watch(deadline, (cause) => {
      const aborted = abortedError(cause);
      for (const change of changes) {
        const why = cause === undefined ? change.throttling : undefined;
        const error = change.doubtfulAttempts > 0 ? unknownFate(change, engine.table, cause ?? why) : (why ?? aborted);
        change.settle({ kind: 'failed', error });
      }
    });
    engine.counters.queueDepth += changes.length;
    let ticket: Ticket | undefined;
    try {
      ticket = admission.enter(bytes, changes.length);
    } catch (error) {
      for (const change of changes) change.settle({ kind: 'failed', error });
    }
    try {
      // The deadline may pass in the line: then every change has its verdict, and there is nothing to route.
      if (ticket?.entered !== undefined) await Promise.race([ticket.entered, slice.done]);
      if (slice.left > 0) void engine.router.route(changes.filter((change) => !change.isSettled));
      await slice.done;
    } finally {
      unwatch();
      engine.counters.queueDepth -= changes.length;
      ticket?.leave();
    }
  }
}

export interface Keyed {
  readonly key: string;
}

/** Where a record belongs. */
interface Place {
  readonly key: Uint8Array;
  readonly position: Position;
}

/** By the index of the item: those that were found before its turn came. */
type Places = (Place | undefined)[];

/** Items of a batch that are written together, and what became of each. */
class Slice<T extends Keyed, O> implements VerdictSink {
  readonly indexes: readonly number[];
  readonly #batch: WriteBatch<T, O>;
  readonly #outcomes: O[];
  readonly #places: Places;
  readonly #done = Promise.withResolvers<void>();
  #failure: { readonly error: unknown } | undefined;
  left: number;

  constructor(batch: WriteBatch<T, O>, indexes: readonly number[], places: Places, outcomes: O[]) {
    this.#batch = batch;
    this.#outcomes = outcomes;
    this.#places = places;
    this.indexes = indexes;
    this.left = indexes.length;
  }

  /** Resolves when every item has its verdict; rejects then, if an outcome could not be made. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** The item's place, if it is known; once, as the change holds it from then on. */
  takePlace(index: number): Place | undefined {
    const place = this.#places[index];
    if (place !== undefined) this.#places[index] = undefined;
    return place;
  }

  /** Those that have no verdict yet failed. */
  failRest(error: StoreError): void {
    for (const index of this.indexes) this.#outcomes[index] ??= this.#outcomeOf(index, { kind: 'failed', error });
  }

  settled(index: number, verdict: Verdict): void {
    // At once, as a verdict holds its record: those of a large batch would all stay in memory.
    try {
      this.#outcomes[index] = this.#outcomeOf(index, verdict);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.left -= 1;
    if (this.left > 0) return;
    if (this.#failure === undefined) this.#done.resolve();
    else this.#done.reject(this.#failure.error);
  }

  #outcomeOf(index: number, verdict: Verdict): O {
    return this.#batch.outcome(this.#batch.items[index]!, verdict);
  }
}
