// A scan from the last key to the first. As in scan.ts, each leaf is taken whole from one reply;
// the next leaf holds the last position below it (rule 20).
import type { Snapshot } from '../container/snapshot.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import type { ScanOptions } from '../contract/options.ts';
import { lookAtWhole } from '../engine/lookup.ts';
import { compareBytes } from '../format/bytes.ts';
import { lowerBound, type Page, recordAt, recordCount } from '../format/page.ts';
import { beforeBound, keyPosition, type Position, type UpperBound } from '../format/position.ts';
import { isExpired, isTombstone } from '../format/record.ts';
import { traceOperation } from '../system/tracing.ts';
import { type Bounds, checkIncarnation } from './bounds.ts';
import type { TableContext } from './context.ts';
import { encodeCursor, type ScanState } from './cursor.ts';
import { type DamagedStretch, type LeafRange, pagesIn } from './leaf-pages.ts';
import type { Give } from './values.ts';

/** No byte of UTF-8 is as high. */
const ABOVE_KEYS = 0xff;

/** A page, or damage, with the first position that it may give. */
interface Stretch {
  readonly page: Page | DamagedStretch;
  readonly from: Position;
}

export class ReverseScan<T> implements AsyncIterable<T> {
  readonly #context: TableContext;
  readonly #options: ScanOptions;
  readonly #bounds: Bounds;
  readonly #give: Give<T>;
  #state: ScanState | undefined;
  #isStarted = false;
  #isAtEnd = false;

  constructor(context: TableContext, options: ScanOptions, bounds: Bounds, give: Give<T>) {
    this.#context = context;
    this.#options = options;
    this.#bounds = bounds;
    this.#give = give;
  }

  get cursor(): string | undefined {
    if (this.#state === undefined) return this.#options.cursor;
    return this.#isAtEnd ? undefined : encodeCursor(this.#state, this.#context.engine.table);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    if (this.#isStarted)
      throw new StoreError('invalid', 'a scan is iterated once: begin another, or resume with its cursor');
    this.#isStarted = true;
    const { from } = this.#bounds;
    let { end } = this.#bounds;
    let left = this.#options.limit ?? Infinity;
    while (!this.#isAtEnd && left > 0 && beforeBound(from, end)) {
      const leaf = await this.#leafBelow(end);
      for (const item of this.#recordsIn(leaf, end)) {
        if (this.#context.engine.turns.isLong) await this.#context.engine.turns.pause();
        left -= 1;
        yield item;
        if (left === 0) return;
      }
      end = leaf.header.low;
      this.#moveTo(end, leaf);
      this.#isAtEnd = !beforeBound(from, end);
    }
    this.#isAtEnd = true;
  }

  /** The leaf of the last position below `end`. */
  async #leafBelow(end: UpperBound): Promise<Snapshot> {
    const { engine, deadlines, order } = this.#context;
    const leaf = await traceOperation(engine.table, 'scan', () =>
      deadlines.bound(deadlines.begin(this.#options), () =>
        engine.tree.find(lastBelow(end), 0, (id) => lookAtWhole(engine, id)),
      ),
    );
    if (leaf.header.order !== order) throw orderChanged(engine.table);
    checkIncarnation(this.#state?.incarnation ?? this.#bounds.incarnation, leaf.header.incarnation, engine.table);
    return leaf;
  }

  /** The leaf's records below `end`, last first. Throws `corrupt` at damage, behind it. */
  *#recordsIn(leaf: Snapshot, end: UpperBound): Generator<T> {
    const { engine } = this.#context;
    const { low, incarnation } = leaf.header;
    const from = compareBytes(low, this.#bounds.from) < 0 ? this.#bounds.from : low;
    const nowMs = engine.runtime.wallMs();
    for (const { page, from: first } of stretchesIn({ engine, leaf, positionOf: keyPosition, from, end }).reverse()) {
      if ('error' in page) {
        this.#moveTo(page.low, leaf);
        this.#isAtEnd = compareBytes(page.low, this.#bounds.from) <= 0;
        throw page.error;
      }
      const start = lowerBound(page, first, keyPosition);
      const stop = end === undefined ? recordCount(page) : lowerBound(page, end, keyPosition);
      for (let index = stop - 1; index >= start; index -= 1) {
        const found = recordAt(page, index);
        if (isTombstone(found) || isExpired(found, nowMs)) continue;
        // The cursor passes the record first: a scan goes on behind a value that cannot be decoded.
        this.#moveTo(found.key, leaf);
        yield this.#give(found, incarnation);
      }
    }
  }

  #moveTo(end: Position, { header: { incarnation } }: Snapshot): void {
    this.#state = { order: 'key', incarnation, position: this.#bounds.from, end, isReverse: true };
  }
}

/** The pages of a leaf in order, those behind damage included. */
function stretchesIn(range: LeafRange): Stretch[] {
  const stretches: Stretch[] = [];
  for (let { from } = range; ;) {
    for (const page of pagesIn({ ...range, from })) stretches.push({ page, from });
    const last = stretches.at(-1)?.page;
    if (last === undefined || !('error' in last) || last.high === undefined) return stretches;
    if (!beforeBound(last.high, range.end)) return stretches;
    from = last.high;
  }
}

/** A position below `end` and above all keys below it. */
function lastBelow(end: UpperBound): Position {
  if (end === undefined) return Buffer.of(ABOVE_KEYS);
  const last = end.at(-1)!;
  if (last === 0) return end.subarray(0, -1);
  return Buffer.concat([end.subarray(0, -1), Buffer.of(last - 1, ABOVE_KEYS)]);
}
