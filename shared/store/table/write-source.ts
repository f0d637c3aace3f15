// Writes what an async iterable gives: one slice after the other, so that equal keys take effect in
// order, while the next slice is read. No more than these two are held.
import type { Verdict } from '../container/change.ts';
import type { CallOptions } from '../contract/options.ts';
import { StoreError } from '../contract/errors.ts';
import { abortedError } from '../io/deadline.ts';
import type { Turns } from '../io/turns.ts';
import type { Keyed, Prepared } from './actions.ts';
import type { TableContext } from './table-context.ts';
import { CHANGE_OVERHEAD_BYTES, SLICE_COUNT, type WriteBatch } from './write.ts';

/** Ends a slice of fewer items. Records of 1,000 bytes fill one by their number. */
const SLICE_BYTES = 8 * 1024 * 1024;

export interface Source<Given, T extends Keyed, O> {
  readonly items: AsyncIterable<Given>;
  /** Throws a TypeError for what no call takes, which ends the source. */
  readonly itemOf: (given: Given, index: number) => T;
  /** A StoreError fails the item, any other ends the source. */
  readonly prepare: (item: T) => Prepared;
  readonly outcome: (item: Keyed, verdict: Verdict) => O;
  readonly options: CallOptions | undefined;
}

/** An item as it is held: encoded, or with the reason why it fails. */
interface Ready extends Keyed {
  readonly prepared: Prepared | StoreError;
}

export function isSource<T>(items: readonly T[] | AsyncIterable<T>): items is AsyncIterable<T> {
  return typeof items === 'object' && items !== null && Symbol.asyncIterator in items;
}

/** Outcomes in order. `write` gives each slice a deadline of its own. */
export async function* writeSource<Given, T extends Keyed, O>(
  { deadlines, engine }: TableContext,
  { items, itemOf, prepare, outcome, options }: Source<Given, T, O>,
  write: (slice: WriteBatch<Ready, O>) => Promise<O[]>,
): AsyncGenerator<O, void, undefined> {
  const source = new Reading(items[Symbol.asyncIterator]());
  const slices = slicesOf(source, (given, index) => readyOf(itemOf(given, index), prepare), engine.turns);
  const left = new AbortController();
  const signal = AbortSignal.any([left.signal, ...(options?.signal === undefined ? [] : [options.signal])]);
  const readOn = () => {
    const reading = deadlines.bound({ dueMs: Infinity, signal }, () => slices.next(), endedEarly);
    // Its error is told when its turn comes.
    reading.catch(() => undefined);
    return reading;
  };
  try {
    let reading = readOn();
    for (;;) {
      const { done, value: slice } = await reading;
      if (done === true) return;
      reading = readOn();
      yield* await write({ items: slice, prepare: preparedOf, outcome, options });
    }
  } finally {
    left.abort();
    await source.close();
  }
}

function endedEarly(cause: unknown): StoreError {
  return abortedError(cause, undefined, 'the source was read to its end');
}

/** Ends with the source's error, behind the items that it gave before. */
async function* slicesOf<Given>(
  source: Reading<Given>,
  ready: (given: Given, index: number) => Ready,
  turns: Turns,
): AsyncGenerator<Ready[], void, undefined> {
  let slice: Ready[] = [];
  let bytes = 0;
  try {
    for (let index = 0; ; index += 1) {
      const { done, value } = await source.next();
      if (done === true) break;
      const one = ready(value, index);
      const size = 'bytes' in one.prepared ? one.prepared.bytes : 0;
      slice.push(one);
      bytes += size + one.key.length + CHANGE_OVERHEAD_BYTES;
      if (turns.isLongAt(index, size)) await turns.pause();
      if (slice.length < SLICE_COUNT && bytes < SLICE_BYTES) continue;
      yield slice;
      slice = [];
      bytes = 0;
    }
  } catch (error) {
    if (slice.length > 0) yield slice;
    throw error;
  }
  if (slice.length > 0) yield slice;
}

function readyOf<T extends Keyed>(item: T, prepare: (item: T) => Prepared): Ready {
  const { key } = item;
  try {
    return { key, prepared: prepare(item) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { key, prepared: error };
  }
}

function preparedOf({ prepared }: Ready): Prepared {
  if (prepared instanceof StoreError) throw prepared;
  return prepared;
}

/** Knows whether its source is being asked, and has ended. */
class Reading<Given> {
  readonly #source: AsyncIterator<Given, unknown>;
  #isAsked = false;
  #isOver = false;

  constructor(source: AsyncIterator<Given, unknown>) {
    this.#source = source;
  }

  async next(): Promise<IteratorResult<Given, unknown>> {
    if (this.#isOver) return { done: true, value: undefined };
    this.#isAsked = true;
    let isOver = true;
    try {
      const result = await this.#source.next();
      isOver = result.done === true;
      return result;
    } finally {
      this.#isOver ||= isOver;
      this.#isAsked = false;
    }
  }

  /** Closes the source, unless it has ended. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const closed = this.#source.return?.();
    // A generator closes once it has answered, which may never be.
    if (this.#isAsked) closed?.catch(() => undefined);
    else await closed;
  }
}
