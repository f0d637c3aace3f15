// A scan takes each leaf whole, then seeks at its high: splits hide or repeat nothing (rule 20).
import type { Snapshot } from '../container/snapshot.ts';
import type { Order, ScanOptions } from '../contract/options.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { lookAtWhole } from '../engine/lookup.ts';
import { compareBytes, type Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import { lowerBound, recordAt, recordCount } from '../format/page.ts';
import {
  beforeBound,
  type PositionOf,
  positionsOf,
  type Position,
  successor,
  type UpperBound,
} from '../format/position.ts';
import { isExpired, isTombstone } from '../format/record.ts';
import type { Deadline, Deadlines } from '../io/deadline.ts';
import { traceOperation } from '../system/tracing.ts';
import { type Bounds, checkIncarnation } from './bounds.ts';
import type { TableContext } from './context.ts';
import { encodeCursor, type ScanState } from './cursor.ts';
import { pagesIn } from './leaf-pages.ts';
import type { Give } from './values.ts';

/** A scan reads ahead as many leaves as it gave, within these bounds and about BYTES_AHEAD. */
const LEAVES_AHEAD_LEAST = 4;
const LEAVES_AHEAD_MOST = 32;
const BYTES_AHEAD = 2 * 1024 * 1024;
/** Below this share the next leaves are read, so that a quarter of them shares a request. */
const KEPT_AHEAD = 0.75;

export class TableScan<T> implements AsyncIterable<T> {
  readonly #engine: Engine;
  readonly #deadlines: Deadlines;
  readonly #order: Order;
  readonly #options: ScanOptions;
  readonly #give: Give<T>;
  readonly #positionOf: PositionOf;
  readonly #bounds: Bounds;
  readonly #ahead = new Map<string, { readonly low: Position; readonly reading: Promise<Snapshot> }>();
  #leavesGiven = 0;
  #state: ScanState | undefined;
  /** The key of the last record given: the cursor is behind it, not at the state's position. */
  #given: Uint8Array | undefined;
  #isStarted = false;
  #isAtEnd = false;

  constructor({ engine, deadlines, order }: TableContext, options: ScanOptions, bounds: Bounds, give: Give<T>) {
    this.#engine = engine;
    this.#deadlines = deadlines;
    this.#order = order;
    this.#options = options;
    this.#give = give;
    this.#positionOf = positionsOf(order, 0);
    this.#bounds = bounds;
  }

  get cursor(): string | undefined {
    if (this.#state === undefined) return this.#options.cursor;
    if (this.#isAtEnd) return undefined;
    const position = this.#given === undefined ? this.#state.position : successor(this.#positionOf(this.#given));
    return encodeCursor({ ...this.#state, position }, this.#engine.table);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    if (this.#isStarted)
      throw new StoreError('invalid', 'a scan is iterated once: begin another, or resume with its cursor');
    this.#isStarted = true;
    const { end } = this.#bounds;
    const { turns } = this.#engine;
    let left = this.#options.limit ?? Infinity;
    let count = 0;
    let { from: position } = this.#bounds;
    while (!this.#isAtEnd && left > 0) {
      const leaf = await this.#leafOrPast(position);
      const { incarnation, high, order } = leaf.header;
      if (order !== this.#order) throw orderChanged(this.#engine.table);
      this.#checkIncarnation(incarnation);
      const range = { engine: this.#engine, leaf, positionOf: this.#positionOf, from: position, end };
      const nowMs = this.#engine.runtime.wallMs();
      const state = { order: this.#order, incarnation, position, end, isReverse: false };
      for (const page of pagesIn(range)) {
        if ('error' in page) {
          this.#goPast(page.high, position, incarnation);
          throw page.error;
        }
        const stop = end === undefined ? recordCount(page) : lowerBound(page, end, this.#positionOf);
        for (let index = lowerBound(page, position, this.#positionOf); index < stop; index += 1) {
          const found = recordAt(page, index);
          if (isTombstone(found) || isExpired(found, nowMs)) continue;
          if (turns.isLongAt(count, found.value.length)) await turns.pause();
          count += 1;
          // The cursor moves first: a scan goes on behind a value that cannot be decoded.
          this.#state = state;
          this.#given = found.key;
          left -= 1;
          yield this.#give(found, incarnation);
          if (left === 0) return;
        }
      }
      position = this.#goPast(high, position, incarnation);
    }
  }

  /** Moves on to `high`: every record below was given, or reported damaged. */
  #goPast(high: UpperBound, position: Position, incarnation: Id64): Position {
    const { end } = this.#bounds;
    this.#isAtEnd = high === undefined || (end !== undefined && compareBytes(high, end) >= 0);
    this.#state = { order: this.#order, incarnation, position: high ?? position, end, isReverse: false };
    this.#given = undefined;
    return this.#state.position;
  }

  /** Reads the leaf at `position`. A damaged header moves the scan to the branch's next entry. */
  async #leafOrPast(position: Position): Promise<Snapshot> {
    const { tree } = this.#engine;
    try {
      return await this.#leafAt(position, this.#deadlines.begin(this.#options));
    } catch (error) {
      const next = tree.hints.route(position, 0)?.end;
      if (error instanceof StoreError && error.code === 'corrupt' && next !== undefined) {
        const { incarnation } = (await tree.root.get()).header;
        this.#checkIncarnation(incarnation);
        this.#goPast(next, position, incarnation);
      }
      throw error;
    }
  }

  async #leafAt(position: Position, deadline: Deadline): Promise<Snapshot> {
    const read = (at: Position): Promise<Snapshot> =>
      this.#engine.tree.find(at, 0, (id) => lookAtWhole(this.#engine, id));
    const name = nameOf(position);
    const ahead = this.#ahead.get(name);
    this.#ahead.delete(name);
    const leaf = await traceOperation(this.#engine.table, 'scan', () =>
      this.#deadlines.bound(deadline, () => ahead?.reading ?? read(position)),
    );
    this.#readAhead(leaf, read);
    return leaf;
  }

  /** Begins to read the branch's next leaves. Entries below the leaf's high were absorbed. */
  #readAhead({ header }: Snapshot, read: (at: Position) => Promise<Snapshot>): void {
    if ((this.#options.limit ?? Infinity) < Infinity || header.high === undefined) return;
    for (const [name, { low }] of this.#ahead) if (beforeBound(low, header.high)) this.#ahead.delete(name);
    const count = this.#leavesAhead(header);
    if (this.#ahead.size > count * KEPT_AHEAD) return;
    for (const low of this.#engine.tree.hints.lowsAfter(header.low, count)) {
      const name = nameOf(low);
      if (
        beforeBound(low, header.high) ||
        !beforeBound(low, this.#bounds.end) ||
        this.#ahead.has(name) ||
        this.#ahead.size >= count
      )
        continue;
      const reading = read(low);
      // Its error is handled when the scan gets there, if it does.
      reading.catch(() => undefined);
      this.#ahead.set(name, { low, reading });
    }
  }

  /** Expects equal leaves. A scan that ends early has read little more than it gave. */
  #leavesAhead(header: Header): number {
    const bytes = header.pages.reduce((sum, { sealedBytes }) => sum + sealedBytes, 1);
    const most = Math.min(LEAVES_AHEAD_MOST, BYTES_AHEAD / bytes, this.#leavesGiven);
    this.#leavesGiven += 1;
    return Math.max(LEAVES_AHEAD_LEAST, Math.floor(most));
  }

  #checkIncarnation(incarnation: Id64): void {
    checkIncarnation(this.#state?.incarnation ?? this.#bounds.incarnation, incarnation, this.#engine.table);
  }
}

function nameOf(position: Position): string {
  return Buffer.from(position).toString('latin1');
}
