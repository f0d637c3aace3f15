// Writing what a call asks for: its items become changes, the changes go to the queues of their containers, and every item hears its
// verdict, at the latest when the deadline passes.
import { unknownFate } from '../container/attempts.ts';
import { byPosition, Change, type Verdict, type VerdictSink, type Action } from '../container/change.ts';
import type { CallOptions, Order } from '../contract/api.ts';
import type { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { EMPTY_BYTES } from '../format/bytes.ts';
import { encodeKey, type PositionOf, positionsOf, type Position } from '../format/position.ts';
import { abortedError, type Deadline, type Deadlines } from '../io/deadline.ts';
import type { Admission, Ticket } from './admission.ts';

/** Changes handed to the queues at a time, so that a large batch takes its turns. */
const SLICE_COUNT = 5_000;
/** What a change counts beside its key and value. */
const CHANGE_OVERHEAD_BYTES = 200;

/** What the item of a batch asks for, and the bytes of its value as far as they are known. Throws if it cannot be. */
export type Prepare<T> = (item: T) => { readonly wish: Action; readonly bytes: number };

export interface WriterContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}

export class Writer {
  readonly #context: WriterContext;
  readonly #place: PositionOf;

  constructor(context: WriterContext) {
    this.#context = context;
    this.#place = positionsOf(context.order, 0);
  }

  /** A verdict for each item. Writes in waves of distinct keys, so that equal keys take effect in the order given. */
  async write<T extends Keyed>(
    items: readonly T[],
    prepare: Prepare<T>,
    options: CallOptions | undefined,
  ): Promise<Verdict[]> {
    const deadline = this.#context.deadlines.begin(options);
    const verdicts: Verdict[] = [];
    for (const each of wavesOf(items)) {
      const wave = each.length > SLICE_COUNT ? await this.#sorted(each, items) : each;
      for (let first = 0; first < wave.length; first += SLICE_COUNT) {
        const slice = new Slice(verdicts, wave.slice(first, first + SLICE_COUNT));
        await this.#writeSlice(slice, items, prepare, deadline);
      }
    }
    return verdicts;
  }

  /** In order of position: so the slices of a large batch lie side by side, and each container is written for one or two of them. */
  async #sorted(wave: readonly number[], items: readonly Keyed[]): Promise<number[]> {
    const { turns } = this.#context.engine;
    const runs: Placed[][] = [];
    for (let first = 0; first < wave.length; first += SLICE_COUNT) {
      const run: Placed[] = [];
      await turns.forEach(wave.slice(first, first + SLICE_COUNT), (index) => {
        run.push({ index, position: this.#positionOf(items[index]!.key) });
      });
      runs.push(run.sort(byPosition));
    }
    // Runs that are in order are merged, not sorted: a fraction of the work.
    return runs
      .flat()
      .sort(byPosition)
      .map(({ index }) => index);
  }

  /** Where it lies; the beginning for a key that has no position: its verdict says so when its turn comes. */
  #positionOf(key: string): Position {
    try {
      return this.#place(encodeKey(key, this.#context.engine.table));
    } catch {
      return EMPTY_BYTES;
    }
  }

  /** Undefined if it could not be made: then it has its verdict. */
  #changeOf<T extends Keyed>(slice: Slice, index: number, item: T, prepare: Prepare<T>, begunTick: number) {
    const { engine, order } = this.#context;
    try {
      const key = encodeKey(item.key, engine.table);
      const { wish, bytes } = prepare(item);
      const position = this.#place(key);
      const cost = bytes + key.length + CHANGE_OVERHEAD_BYTES;
      const rest = { order, level: 0, begunTick, isHint: false, sink: slice };
      return new Change({ key, position, wish, bytes: cost, index, ...rest });
    } catch (error) {
      if (error instanceof TypeError) throw error;
      slice.settled(index, { kind: 'failed', error });
      return undefined;
    }
  }

  async #writeSlice<T extends Keyed>(
    slice: Slice,
    items: readonly T[],
    prepare: Prepare<T>,
    deadline: Deadline,
  ): Promise<void> {
    const { engine, deadlines } = this.#context;
    const begunTick = engine.clock.now().tick;
    const changes: Change[] = [];
    for (const [place, index] of slice.indexes.entries()) {
      if (place > 0 && engine.turns.isLong) await engine.turns.pause();
      // Nothing of the slice has been sent.
      if (deadlines.isOver(deadline)) return slice.failRest(abortedError(deadline.signal?.reason));
      const change = this.#changeOf(slice, index, items[index]!, prepare, begunTick);
      if (change !== undefined) changes.push(change);
    }
    if (changes.length > 0) await this.#writeChanges(slice, changes, deadline);
  }

  async #writeChanges(slice: Slice, changes: readonly Change[], deadline: Deadline): Promise<void> {
    const { engine, admission, deadlines } = this.#context;
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    const unwatch = deadlines.watch(deadline, (cause) => {
      const aborted = abortedError(cause);
      for (const change of changes) {
        const isSent = change.openAttempts > 0;
        change.settle({ kind: 'failed', error: isSent ? unknownFate(change, engine.table, cause) : aborted });
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
      await Promise.race([ticket?.entered, slice.done]);
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

interface Placed {
  readonly index: number;
  readonly position: Position;
}

/** Items of a batch that are written together, and what became of each. */
class Slice implements VerdictSink {
  readonly indexes: readonly number[];
  readonly #verdicts: Verdict[];
  readonly #done = Promise.withResolvers<void>();
  left: number;

  constructor(verdicts: Verdict[], indexes: readonly number[]) {
    this.#verdicts = verdicts;
    this.indexes = indexes;
    this.left = indexes.length;
  }

  /** Resolves when every item has its verdict. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Those that have no verdict yet failed. */
  failRest(error: StoreError): void {
    for (const index of this.indexes) this.#verdicts[index] ??= { kind: 'failed', error };
  }

  settled(index: number, verdict: Verdict): void {
    this.#verdicts[index] = verdict;
    this.left -= 1;
    if (this.left === 0) this.#done.resolve();
  }
}

/** Indexes in as few waves as hold each key at most once. */
function wavesOf(items: readonly Keyed[]): number[][] {
  const waves: number[][] = [];
  const seen = new Map<string, number>();
  for (const [index, { key }] of items.entries()) {
    const wave = seen.get(key) ?? 0;
    seen.set(key, wave + 1);
    const indexes = waves[wave];
    if (indexes === undefined) waves.push([index]);
    else indexes.push(index);
  }
  return waves;
}
