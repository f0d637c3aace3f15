// Writes a call's items through their queues. Every item has its outcome when the deadline passes.
import { outcomeUnknown } from '../container/attempts.ts';
import { type Batch, byPosition, Change, type Clearing, type Verdict, type VerdictSink } from '../container/change.ts';
import type { Range } from '../container/layers.ts';
import type { CallOptions } from '../contract/options.ts';
import { asStoreError, StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import { compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { encodeKey, type PositionOf, positionsOf, type Position } from '../format/position.ts';
import type { Deadline } from '../io/deadline.ts';
import type { Turns } from '../io/turns.ts';
import { currentOperation } from '../system/tracing.ts';
import type { Keyed, Prepared } from './actions.ts';
import type { TableContext, Ticket } from './table-context.ts';
import type { Step } from './leaf-ranges.ts';

/** Changes handed over at once: a larger batch would fill the queues for all other calls. */
export const SLICE_COUNT = 5_000;
/** A change's memory beside its key and value, roughly. */
export const CHANGE_OVERHEAD_BYTES = 200;

export interface WriteBatch<T extends Keyed, O> {
  readonly items: readonly T[];
  /** A StoreError fails the item, a TypeError the call unless parts of it were sent. */
  readonly prepare: (item: T) => Prepared;
  readonly outcome: (item: T, verdict: Verdict) => O;
  readonly options: CallOptions | undefined;
}

export class Writer {
  readonly #context: TableContext;
  readonly #positionOf: PositionOf;

  constructor(context: TableContext) {
    this.#context = context;
    this.#positionOf = positionsOf(context.order, 0);
  }

  /** An outcome for each item, in order. Waves keep equal keys in the order given. May throw. */
  write<T extends Keyed, O>(batch: WriteBatch<T, O>): Promise<O[]> {
    const { deadlines, engine } = this.#context;
    const now = engine.clock.now();
    const deadline = deadlines.begin(batch.options, now.monotonicMs);
    // No await first: the caller may change its value once it has the promise.
    if (batch.items.length === 1) return this.#writeOne(new Slice(batch, [0], [], []), deadline, now);
    return deadlines.hold(() => this.#writeMany(batch, deadline));
  }

  async #writeMany<T extends Keyed, O>(batch: WriteBatch<T, O>, deadline: Deadline): Promise<O[]> {
    const { engine } = this.#context;
    const locations = await engine.turns.map(batch.items, ({ key }) => this.#tryLocate(key));
    const waves = await wavesOf(locations, engine.turns);
    // At full length: V8 makes a hash table of an array that is filled from the middle.
    const outcomes = Array.from<O>({ length: batch.items.length });
    for (const wave of waves) {
      for (let first = 0; first < wave.length; first += SLICE_COUNT) {
        const slice = new Slice(batch, wave.slice(first, first + SLICE_COUNT), locations, outcomes);
        slice.isLater = first > 0 || wave !== waves[0];
        await this.#writeSlice(slice, deadline, engine.clock.now());
      }
    }
    return outcomes;
  }

  /** Undefined for an invalid key, which `#prepare` fails. */
  #tryLocate(key: string): Location | undefined {
    try {
      return this.#locate(key);
    } catch {
      return undefined;
    }
  }

  #locate(text: string): Location {
    const key = encodeKey(text, this.#context.engine.table);
    return { key, position: this.#positionOf(key) };
  }

  /** Undefined if the item fails. */
  #prepare<T extends Keyed, O>(slice: Slice<T, O>, index: number, call: Call): Change | undefined {
    try {
      const item = slice.batch.items[index]!;
      const location = slice.takeLocation(index) ?? this.#locate(item.key);
      return this.#change(location, slice.batch.prepare(item), call, { sink: slice, index });
    } catch (error) {
      if (error instanceof TypeError && !slice.isLater) throw error;
      const { key } = slice.batch.items[index]!;
      slice.settled(index, { kind: 'failed', error: asOutcome(error, { table: this.#context.engine.table, key }) });
      return undefined;
    }
  }

  /** Without an await: it begins in the caller's turn. */
  #writeOne<T extends Keyed, O>(slice: Slice<T, O>, deadline: Deadline, begun: Moment): Promise<O[]> {
    const { deadlines } = this.#context;
    const { monotonicMs: nowMs } = begun;
    if (deadlines.isOver(deadline, nowMs)) slice.failRest(deadlines.aborted(deadlines.causeOf(deadline)));
    else {
      const change = this.#prepare(slice, 0, callOf(deadline, begun));
      if (change !== undefined) this.#send(slice, [change], deadline, nowMs);
    }
    return slice.done;
  }

  async #writeSlice<T extends Keyed, O>(slice: Slice<T, O>, deadline: Deadline, begun: Moment): Promise<void> {
    const { engine, deadlines } = this.#context;
    const call = callOf(deadline, begun);
    let nowMs = begun.monotonicMs;
    const changes: Change[] = [];
    let bytes = 0;
    for (let count = 0; count < slice.indexes.length; count += 1) {
      const isLong = engine.turns.isLongAt(count, bytes);
      if (isLong) {
        await engine.turns.pause();
        nowMs = engine.runtime.monotonicMs();
      }
      // Nothing of this slice was sent: its items are `aborted`.
      if ((isLong || count === 0) && deadlines.isOver(deadline, nowMs))
        return slice.failRest(deadlines.aborted(deadlines.causeOf(deadline)));
      const change = this.#prepare(slice, slice.indexes[count]!, call);
      bytes = change?.bytes ?? 0;
      if (change !== undefined) changes.push(change);
    }
    if (changes.length > 0) this.#send(slice, changes, deadline, nowMs);
    await slice.done;
  }

  #change({ key, position }: Location, { action, bytes, whole }: Prepared, call: Call, { sink, index }: Heard): Change {
    const cost = bytes + key.length + CHANGE_OVERHEAD_BYTES;
    const { order } = this.#context;
    const { begunTick, dueMs, operation } = call;
    // Named one by one: two spreads took twice the time, for each record of a bulk load.
    return new Change({
      key,
      position,
      order,
      level: 0,
      action,
      bytes: cost,
      whole,
      begunTick,
      dueMs,
      operation,
      sink,
      index,
    });
  }

  /** Removes the range's records from its first leaf, in one commit. */
  async clear(range: Range, incarnation: Id64 | undefined, options: CallOptions | undefined): Promise<Step> {
    const verdict = await this.#writeWhole(range.from, { kind: 'clear', end: range.end, incarnation }, options);
    // Unchanged is the table of another incarnation, at which the caller stops.
    const cleared = verdict.kind === 'applied' ? verdict.cleared : undefined;
    return { count: cleared?.count ?? 0, reached: cleared?.reached, incarnation: verdict.incarnation };
  }

  /** Verdicts in order of items, or throws: then none of them took effect, or it is `unknown`. */
  async writeTogether<T extends Keyed>({
    items,
    prepare,
    options,
  }: Pick<WriteBatch<T, never>, 'items' | 'prepare' | 'options'>): Promise<Verdict[]> {
    const { groupBy = '' } = this.#context;
    const parts = items.map((item, index) =>
      this.#change(this.#locate(item.key), prepare(item), PART_OF_BATCH, { sink: UNHEARD, index }),
    );
    const sorted = parts.toSorted(byPosition);
    const batch = { kind: 'batch', groupBy, parts: sorted } as const;
    const verdict = await this.#writeWhole(sorted[0]!.position, batch, options);
    const verdicts = verdict.kind === 'applied' ? verdict.parts : undefined;
    const verdictOf = new Map(sorted.map((part, index) => [part, verdicts?.[index]]));
    return parts.map((part) => verdictOf.get(part)!);
  }

  /** The verdict on work on several records. Throws the error of a failure. */
  async #writeWhole(position: Position, whole: Clearing | Batch, options: CallOptions | undefined): Promise<Done> {
    const parts = whole.kind === 'clear' ? [] : whole.parts;
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    const batch: WriteBatch<Keyed, Verdict> = {
      items: [{ key: '' }],
      prepare: () => ({ action: { kind: 'none' }, bytes, whole }),
      outcome: (_, verdict) => verdict,
      options,
    };
    const slice = new Slice(batch, [0], [{ key: position, position }], []);
    const begun = this.#context.engine.clock.now();
    const deadline = this.#context.deadlines.begin(options, begun.monotonicMs);
    const [verdict] = await this.#writeOne(slice, deadline, begun);
    if (verdict!.kind === 'failed') throw asStoreError(verdict!.error);
    return verdict!;
  }

  #send<T extends Keyed, O>(slice: Slice<T, O>, changes: readonly Change[], deadline: Deadline, nowMs: number): void {
    const { engine, admission, deadlines } = this.#context;
    const bytes = changes.reduce((sum, change) => sum + change.bytes, 0);
    let unwatch: (() => void) | undefined;
    let ticket: Ticket | undefined;
    engine.counters.queueDepth += changes.length;
    slice.ended = () => {
      unwatch?.();
      ticket?.leave();
      engine.counters.queueDepth -= changes.length;
    };
    unwatch = deadlines.watch(deadline, (cause) => this.#end(changes, cause), nowMs);
    if (slice.left === 0) return;
    try {
      ticket = admission.enter(bytes, changes.length);
    } catch (error) {
      for (const change of changes) change.settle({ kind: 'failed', error });
      return;
    }
    // If the deadline passes in the line, every change has its verdict and none is routed.
    const route = (): void => {
      if (slice.left > 0) engine.router.route(changes.filter((change) => !change.isSettled));
    };
    if (ticket.entered === undefined) route();
    else void ticket.entered.then(route);
  }

  /** The call ends: its changes fail with `unknown` if they were sent and may have been applied. */
  #end(changes: readonly Change[], cause: unknown): void {
    const { engine, deadlines } = this.#context;
    const aborted = deadlines.aborted(cause);
    for (const change of changes) {
      const why = deadlines.failureOf(cause, change.throttling);
      const error = change.doubtfulAttempts > 0 ? outcomeUnknown(change, engine.table, cause ?? why) : (why ?? aborted);
      change.settle({ kind: 'failed', error });
    }
  }
}

/** A TypeError, which no outcome may hold, as a StoreError. */
function asOutcome(error: unknown, where: { readonly table: string; readonly key: string }): unknown {
  return error instanceof TypeError ? new StoreError('invalid', error.message, { ...where, cause: error }) : error;
}

type Call = Pick<Change, 'begunTick' | 'dueMs' | 'operation'>;

interface Heard {
  readonly sink: VerdictSink;
  readonly index: number;
}

type Done = Exclude<Verdict, { kind: 'failed' }>;

/** The batch has the deadline and hears the verdict, not its parts. */
const PART_OF_BATCH: Call = { begunTick: 0, dueMs: Infinity, operation: undefined };
const UNHEARD: VerdictSink = { settled: () => undefined };

/** A key's bytes and its position. */
interface Location {
  readonly key: Uint8Array;
  readonly position: Position;
}

/** By index of the item; undefined where taken, invalid or not computed. */
type Locations = (Location | undefined)[];

function callOf({ dueMs }: Deadline, { tick: begunTick }: Moment): Call {
  return { begunTick, dueMs, operation: currentOperation() };
}

/** Items of a batch that are written together, with their outcomes. */
class Slice<T extends Keyed, O> implements VerdictSink {
  readonly indexes: readonly number[];
  readonly batch: WriteBatch<T, O>;
  readonly #outcomes: O[];
  readonly #locations: Locations;
  readonly #done = Promise.withResolvers<O[]>();
  #failure: { readonly error: unknown } | undefined;
  left: number;
  /** Others of the call were sent before: it can no longer reject as if nothing was done. */
  isLater = false;
  /** Called when every item that was sent has its verdict. */
  ended: (() => void) | undefined;

  constructor(batch: WriteBatch<T, O>, indexes: readonly number[], locations: Locations, outcomes: O[]) {
    this.batch = batch;
    this.#outcomes = outcomes;
    this.#locations = locations;
    this.indexes = indexes;
    this.left = indexes.length;
  }

  /** The outcomes, when every item has its verdict. Rejects if one could not be made. */
  get done(): Promise<O[]> {
    return this.#done.promise;
  }

  /** Hands the item's location to its change, and forgets it. */
  takeLocation(index: number): Location | undefined {
    const location = this.#locations[index];
    if (location !== undefined) this.#locations[index] = undefined;
    return location;
  }

  /** Fails the items without a verdict. */
  failRest(error: StoreError): void {
    for (const index of this.indexes) this.#outcomes[index] ??= this.#outcomeOf(index, { kind: 'failed', error });
    this.#done.resolve(this.#outcomes);
  }

  settled(index: number, verdict: Verdict): void {
    // Made at once: verdicts hold records, and a large batch's would all stay in memory.
    try {
      this.#outcomes[index] = this.#outcomeOf(index, verdict);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.left -= 1;
    if (this.left > 0) return;
    this.ended?.();
    if (this.#failure === undefined) this.#done.resolve(this.#outcomes);
    else this.#done.reject(this.#failure.error);
  }

  #outcomeOf(index: number, verdict: Verdict): O {
    return this.batch.outcome(this.batch.items[index]!, verdict);
  }
}

/** The position of each item, by index; undefined for an invalid key. */
type Located = readonly ({ readonly position: Position } | undefined)[];

/**
 * Orders items by position, so that the changes of one container lie side by side. The n-th item
 * with one key goes into the n-th wave.
 */
export async function wavesOf(items: Located, turns: Turns): Promise<number[][]> {
  // Items with an invalid key come first.
  const positionAt = (index: number): Position => items[index]?.position ?? EMPTY_BYTES;
  const sorted = await turns.sort([...items.keys()], (a, b) => compareBytes(positionAt(a), positionAt(b)) || a - b);
  const waves: number[][] = [[]];
  let wave = 0;
  let before: Position = EMPTY_BYTES;
  await turns.forEach(sorted, (index) => {
    const position = positionAt(index);
    wave = position.length > 0 && compareBytes(before, position) === 0 ? wave + 1 : 0;
    before = position;
    (waves[wave] ??= []).push(index);
  });
  return waves;
}
