// A scan takes a part of a leaf from one reply (with a limit no more than it needs), then seeks the
// position where that part ended. So no split hides or repeats a record (rule 20).
import {
  indexesIn,
  isNotAbove,
  layersOf,
  type OwnedRow,
  type Part,
  partOf,
  type Range,
  rangeWithin,
  rowBefore,
  rowsIn,
  type ScanRange,
} from '../container/layers.ts';
import { mergeLayers } from '../container/merge-pages.ts';
import { pageBytesOf, pageOf, type Snapshot } from '../container/snapshot.ts';
import type { ScanOptions } from '../contract/options.ts';
import { orderChanged, StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { lookToScan } from '../engine/find-records.ts';
import { asName, compareBytes, type Id64 } from '../format/bytes.ts';
import type { Header } from '../format/header.ts';
import {
  isExpired,
  isTombstone,
  type Page,
  recordAt,
  recordCount,
  slicePage,
  type StoredRecord,
} from '../format/page-body.ts';
import {
  beforeBound,
  type Position,
  positionAfter,
  type PositionOf,
  positionsOf,
  type UpperBound,
} from '../format/position.ts';
import { traceOperation } from '../system/tracing.ts';
import { type Bounds, checkIncarnation, encodeCursor } from './bounds.ts';
import type { TableContext } from './table-context.ts';

/** A scan reads ahead as many leaves as it has given, within these bounds and BYTES_AHEAD. */
const LEAVES_AHEAD_LEAST = 4;
const LEAVES_AHEAD_MOST = 32;
const BYTES_AHEAD = 2 * 1024 * 1024;
/** Below this share more leaves are read ahead, so that a quarter of them shares a request. */
const KEPT_AHEAD = 0.75;
/** Higher than any byte of UTF-8. */
const ABOVE_KEYS = 0xff;

/** What a scan gives for a stored record: an entry, or the key alone. */
export type Give<T> = (record: StoredRecord, incarnation: Id64) => T;

export class TableScan<T> implements AsyncIterable<T> {
  readonly #context: TableContext;
  readonly #options: ScanOptions;
  readonly #give: Give<T>;
  readonly #positionOf: PositionOf;
  readonly #isReverse: boolean;
  readonly #ahead = new Map<string, { readonly low: Position; readonly reading: Promise<Snapshot> }>();
  #leavesGiven = 0;
  #recordsLeft: number;
  /** A part of the leaf was taken and more is wanted, so next all of it is read. */
  #isWithinLeaf = false;
  /** The incarnation that is scanned; undefined before the first leaf. */
  #incarnation: Id64 | undefined;
  /** The positions that are left, beyond the leaves and the damage that were passed. */
  #left: Range;
  /** The key of the last record given, at which the cursor stands. */
  #given: Uint8Array | undefined;
  #hasMoved = false;
  #isStarted = false;
  #isAtEnd = false;

  constructor(context: TableContext, options: ScanOptions, bounds: Bounds, give: Give<T>) {
    this.#context = context;
    this.#options = options;
    this.#give = give;
    this.#positionOf = positionsOf(context.order, 0);
    this.#isReverse = bounds.isReverse;
    this.#incarnation = bounds.incarnation;
    this.#left = bounds;
    this.#recordsLeft = options.limit ?? Infinity;
  }

  get cursor(): string | undefined {
    if (!this.#hasMoved) return this.#options.cursor;
    if (this.#isAtEnd) return undefined;
    let { from, end } = this.#left;
    if (this.#given !== undefined && this.#isReverse) end = this.#given;
    else if (this.#given !== undefined) from = positionAfter(this.#positionOf(this.#given));
    const { engine, order } = this.#context;
    const state = { order, incarnation: this.#incarnation!, from, end, isReverse: this.#isReverse };
    return encodeCursor(state, engine.table);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    if (this.#isStarted)
      throw new StoreError('invalid', 'a scan is iterated once: begin another, or resume with its cursor');
    this.#isStarted = true;
    const { engine } = this.#context;
    const { turns, runtime } = engine;
    const [positionOf, isReverse] = [this.#positionOf, this.#isReverse];
    let count = 0;
    while (this.#mustGoOn) {
      const { leaf, part } = await this.#nextPart();
      const nowMs = runtime.wallMs();
      for (const page of pagesIn({ engine, leaf, positionOf, isReverse, ...rangeWithin(this.#left, part) })) {
        if ('error' in page) {
          this.#movePast(page);
          throw page.error;
        }
        const records = recordCount(page);
        for (let at = 0; at < records; at += 1) {
          const found = recordAt(page, isReverse ? records - 1 - at : at);
          if (isTombstone(found) || isExpired(found, nowMs)) continue;
          if (turns.isLongAt(count, found.value.length)) await turns.pause();
          count += 1;
          // The cursor moves first, so that a scan can go on after a value that cannot be decoded.
          this.#hasMoved = true;
          this.#given = found.key;
          this.#recordsLeft -= 1;
          yield this.#give(found, leaf.header.incarnation);
          if (this.#recordsLeft === 0) return;
        }
      }
      this.#movePast(part);
      this.#isWithinLeaf = part.high !== leaf.header.high || part.low !== leaf.header.low;
    }
    this.#hasMoved = true;
    this.#isAtEnd = true;
  }

  /** A forward scan reads a leaf even for an empty range, as the table may be gone by now. */
  get #mustGoOn(): boolean {
    return !this.#isAtEnd && (!this.#isReverse || beforeBound(this.#left.from, this.#left.end));
  }

  /** Every record of the stretch has been given or reported as damaged. */
  #movePast({ low, high }: Part): void {
    const { from, end } = this.#left;
    this.#left = this.#isReverse ? { from, end: low } : { from: high ?? from, end };
    this.#isAtEnd = this.#isReverse ? !beforeBound(from, low) : isNotAbove(end, high);
    this.#given = undefined;
    this.#hasMoved = true;
  }

  async #nextPart(): Promise<{ readonly leaf: Snapshot; readonly part: Part }> {
    const { engine, order } = this.#context;
    const range = this.#rangeFrom(this.#left.from);
    const leaf = await (this.#isReverse ? this.#leafAt(lastBelow(range.end), range) : this.#leafOrPast(range));
    if (leaf.header.order !== order) throw orderChanged(engine.table);
    this.#enter(leaf.header);
    return { leaf, part: partOf(leaf.header, range) };
  }

  #rangeFrom(from: Position): ScanRange {
    const recordsMax = this.#isWithinLeaf ? Infinity : this.#recordsLeft;
    return { from, end: this.#left.end, isReverse: this.#isReverse, recordsMax };
  }

  #enter({ incarnation }: Header): void {
    checkIncarnation(this.#incarnation, incarnation, this.#context.engine.table);
    this.#incarnation = incarnation;
  }

  /** Reads where the range begins. A damaged header moves the scan to the branch's next entry. */
  async #leafOrPast(range: ScanRange): Promise<Snapshot> {
    const { tree } = this.#context.engine;
    try {
      return await this.#leafAt(range.from, range);
    } catch (error) {
      const next = tree.endOf(range.from);
      if (error instanceof StoreError && error.code === 'corrupt' && next !== undefined) {
        this.#enter((await tree.root()).header);
        this.#movePast({ low: range.from, high: next });
      }
      throw error;
    }
  }

  async #leafAt(position: Position, range: ScanRange): Promise<Snapshot> {
    const { deadlines, engine } = this.#context;
    const deadline = deadlines.begin(this.#options);
    const name = asName(position);
    const ahead = this.#ahead.get(name);
    this.#ahead.delete(name);
    const leaf = await traceOperation(engine.table, 'scan', () =>
      deadlines.bound(deadline, () => ahead?.reading ?? this.#read(position, range)),
    );
    if (!this.#isReverse && this.#options.limit === undefined) this.#readAhead(leaf);
    return leaf;
  }

  #read(position: Position, range: ScanRange): Promise<Snapshot> {
    const { engine } = this.#context;
    const { tree } = engine;
    const isWhole = range.recordsMax === Infinity && isNotAbove(tree.endOf(position), range.end);
    return tree.find(position, (id) => lookToScan(engine, id, { ...range, isWhole }));
  }

  /** Begins to read the leaves that follow. Entries below this leaf's high have been absorbed. */
  #readAhead({ header }: Snapshot): void {
    if (header.high === undefined) return;
    for (const [name, { low }] of this.#ahead) if (beforeBound(low, header.high)) this.#ahead.delete(name);
    const count = this.#leavesAhead(header);
    if (this.#ahead.size > count * KEPT_AHEAD) return;
    for (const low of this.#context.engine.tree.lowsAfter(header.low, count)) {
      const name = asName(low);
      const isWanted = !beforeBound(low, header.high) && beforeBound(low, this.#left.end) && !this.#ahead.has(name);
      if (!isWanted || this.#ahead.size >= count) continue;
      const reading = this.#read(low, this.#rangeFrom(low));
      // The error is handled when the scan gets there, if it does.
      reading.catch(() => undefined);
      this.#ahead.set(name, { low, reading });
    }
  }

  /** Grows with what was given, so that a scan that ends early has read little more. */
  #leavesAhead(header: Header): number {
    const most = Math.min(LEAVES_AHEAD_MOST, BYTES_AHEAD / (pageBytesOf(header) + 1), this.#leavesGiven);
    this.#leavesGiven += 1;
    return Math.max(LEAVES_AHEAD_LEAST, Math.floor(most));
  }
}

/** A position below `end` and above all keys below it. */
function lastBelow(end: Range['end']): Position {
  if (end === undefined) return Buffer.of(ABOVE_KEYS);
  const last = end.at(-1)!;
  if (last === 0) return end.subarray(0, -1);
  return Buffer.concat([end.subarray(0, -1), Buffer.of(last - 1, ABOVE_KEYS)]);
}

/** A stretch whose records are not known because of a damaged page. */
interface DamagedStretch {
  readonly error: StoreError;
  readonly low: Position;
  readonly high: UpperBound;
}

/** The positions of a leaf from `from` to `end`. Their pages must be in memory. */
interface LeafRange extends Range {
  readonly engine: Engine;
  readonly leaf: Snapshot;
  readonly positionOf: PositionOf;
  /** From the end downwards. */
  readonly isReverse: boolean;
}

/**
 * Gives the records of the range as pages in order, layers merged, and damaged stretches in their
 * places. Opens pages one by one: together they may expand to a hundred times their stored bytes.
 */
function* pagesIn(range: LeafRange): Generator<Page | DamagedStretch> {
  const { engine, leaf, isReverse } = range;
  const layers = layersOf(leaf.header).map((refs) => rowsIn(refs, leaf.header.high, range));
  const starts = startsIn(layers, range);
  try {
    for (let count = 0; count < starts.length; count += 1) {
      const index = isReverse ? starts.length - 1 - count : count;
      yield joinedPage(layers, range, { from: starts[index]!, end: starts[index + 1] ?? range.end });
    }
  } finally {
    // The cache must count the expanded pages, which take more memory.
    const held = engine.cache.get(leaf.id);
    if (held !== undefined) engine.cache.offer(held);
  }
}

/** Cuts the range into parts, each of which lies in at most one page of each layer. */
function startsIn(layers: readonly (readonly OwnedRow[])[], { from, end }: Range): Position[] {
  const lows = layers.flat().map(({ low }) => low);
  const within = lows.filter((low) => compareBytes(low, from) > 0 && beforeBound(low, end));
  const starts = [from, ...within.toSorted(compareBytes)];
  return starts.filter((start, index) => index === 0 || compareBytes(start, starts[index - 1]!) > 0);
}

/** The records of all layers between two starts. */
function joinedPage(
  layers: readonly (readonly OwnedRow[])[],
  { engine, leaf, positionOf }: LeafRange,
  part: Range,
): Page | DamagedStretch {
  const pages: Page[][] = [];
  for (const rows of layers) {
    const row = rows[rowBefore(rows, 0, rows.length, part.from)];
    if (row === undefined) continue;
    const page = open(engine, leaf, row);
    if ('error' in page) return page;
    pages.push([sliceWithin(page, part, positionOf)]);
  }
  return mergeLayers(pages, positionOf);
}

function sliceWithin(page: Page, part: Range, positionOf: PositionOf): Page {
  const { first, end } = indexesIn(page, part, positionOf);
  return first === 0 && end === recordCount(page) ? page : slicePage(page, first, end);
}

function open(engine: Engine, leaf: Snapshot, { ref, low, high }: OwnedRow): Page | DamagedStretch {
  try {
    return pageOf(leaf, ref, engine.table);
  } catch (error) {
    if (error instanceof StoreError) return { error, low, high };
    throw error;
  }
}
