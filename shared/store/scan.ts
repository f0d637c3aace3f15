// A scan walks the leaves in order of position. Each leaf is taken from one reply, whole, and counts for exactly the positions it owned in
// it; the next leaf is sought at its high. So a record that exists throughout is given once, whatever splits meanwhile (rule 20).
import type { Entry, Order, Scan, ScanOptions } from './api.ts';
import { compareBytes, EMPTY_BYTES, type Id64 } from './bytes.ts';
import { pageOf, type Snapshot } from './container.ts';
import { decodeCursor, encodeCursor, type ScanState } from './cursor.ts';
import type { Deadline, Deadlines } from './deadline.ts';
import type { Engine } from './engine.ts';
import { StoreError } from './errors.ts';
import { isExpired } from './evaluate.ts';
import type { PageRef } from './header.ts';
import { layersOf } from './layers.ts';
import { flatten } from './overlay.ts';
import { isTombstone, type Page, recordAt, recordCount, type StoredRecord } from './page.ts';
import {
  beforeBound,
  decodeKey,
  encodeKey,
  endOfPrefix,
  type Placer,
  placerOf,
  type Position,
  successor,
  type UpperBound,
} from './position.ts';
import { orderChanged } from './tree.ts';

/** Leaves read ahead of the one being given. */
const LEAVES_AHEAD = 4;

export type MakeEntry<V> = (key: string, record: StoredRecord, incarnation: Id64) => Entry<V>;

export class TableScan<V> implements Scan<V> {
  readonly #engine: Engine;
  readonly #deadlines: Deadlines;
  readonly #order: Order;
  readonly #options: ScanOptions;
  readonly #makeEntry: MakeEntry<V>;
  readonly #place: Placer;
  readonly #bounds: { readonly from: Position; readonly end: UpperBound; readonly incarnation: Id64 | undefined };
  readonly #ahead = new Map<string, Promise<Snapshot>>();
  #state: ScanState | undefined;
  #isStarted = false;

  constructor(engine: Engine, deadlines: Deadlines, order: Order, options: ScanOptions, makeEntry: MakeEntry<V>) {
    this.#engine = engine;
    this.#deadlines = deadlines;
    this.#order = order;
    this.#options = options;
    this.#makeEntry = makeEntry;
    this.#place = placerOf(order, 0);
    this.#bounds = boundsOf(options, order, engine.table);
  }

  get cursor(): string | undefined {
    return this.#state === undefined ? this.#options.cursor : this.#isAtEnd ? undefined : encodeCursor(this.#state);
  }

  #isAtEnd = false;

  async *[Symbol.asyncIterator](): AsyncGenerator<Entry<V>> {
    if (this.#isStarted)
      throw new StoreError('invalid', 'a scan is iterated once: begin another, or resume with its cursor');
    this.#isStarted = true;
    const { end } = this.#bounds;
    let left = this.#options.limit ?? Infinity;
    let { from: position } = this.#bounds;
    while (!this.#isAtEnd && left > 0) {
      const leaf = await this.#leafAt(position, this.#deadlines.begin(this.#options));
      const { incarnation, high, order } = leaf.header;
      if (order !== this.#order) throw orderChanged(this.#engine.table);
      this.#checkIncarnation(incarnation);
      for (const { record, at } of recordsFrom(this.#engine, leaf, this.#place, position, end)) {
        if (this.#engine.turns.isLong) await this.#engine.turns.pause();
        this.#state = { order: this.#order, incarnation, position: successor(at), end };
        left -= 1;
        yield this.#makeEntry(decodeKey(record.key), record, incarnation);
        if (left === 0) return;
      }
      this.#isAtEnd = high === undefined || (end !== undefined && compareBytes(high, end) >= 0);
      position = high ?? position;
      this.#state = { order: this.#order, incarnation, position, end };
    }
  }

  async #leafAt(position: Position, deadline: Deadline): Promise<Snapshot> {
    const read = (at: Position): Promise<Snapshot> =>
      this.#engine.tree.find(at, 0, (id) => this.#engine.reader.readWhole(id));
    const name = nameOf(position);
    const ahead = this.#ahead.get(name);
    this.#ahead.delete(name);
    const leaf = await this.#deadlines.bound(deadline, () => ahead ?? read(position));
    this.#readAhead(leaf, read);
    return leaf;
  }

  /** Begins to read the next leaves, as far as the branch in memory knows where they begin. */
  #readAhead(leaf: Snapshot, read: (at: Position) => Promise<Snapshot>): void {
    if ((this.#options.limit ?? Infinity) < Infinity) return;
    for (const low of this.#engine.tree.lowsAfter(leaf.header.low, LEAVES_AHEAD)) {
      const name = nameOf(low);
      if (!beforeBound(low, this.#bounds.end) || this.#ahead.has(name) || this.#ahead.size >= LEAVES_AHEAD) continue;
      const reading = read(low);
      // Its error is met when, and if, its turn comes.
      reading.catch(() => undefined);
      this.#ahead.set(name, reading);
    }
  }

  #checkIncarnation(incarnation: Id64): void {
    const expected = this.#state?.incarnation ?? this.#bounds.incarnation;
    if (expected === undefined || expected === incarnation) return;
    throw new StoreError('conflict', 'the table was dropped and created again during the scan: begin anew', {
      table: this.#engine.table,
    });
  }
}

function nameOf(position: Position): string {
  return Buffer.from(position).toString('latin1');
}

function boundsOf(
  options: ScanOptions,
  order: Order,
  table: string,
): { from: Position; end: UpperBound; incarnation: Id64 | undefined } {
  const { prefix, from, to, limit, cursor } = options;
  const hasBounds = prefix !== undefined || from !== undefined || to !== undefined;
  const refuse = (message: string): never => {
    throw new StoreError('invalid', message, { table });
  };
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    refuse('limit must be a positive whole number');
  if (hasBounds && order === 'hash')
    refuse('prefix, from and to need a table of order "key"; this one has order "hash"');
  if (prefix !== undefined && (from !== undefined || to !== undefined)) refuse('give prefix, or from and to, not both');
  if (cursor !== undefined) {
    if (hasBounds) refuse('a cursor carries its bounds: do not give prefix, from or to with it');
    const state = decodeCursor(cursor, table);
    if (state.order !== order) refuse('this cursor belongs to a table of another order');
    return { from: state.position, end: state.end, incarnation: state.incarnation };
  }
  const low = encodeBound(prefix ?? from, table);
  const end = prefix === undefined ? (to === undefined ? undefined : encodeBound(to, table)) : endOfPrefix(low);
  return { from: low, end, incarnation: undefined };
}

/** An empty bound is the beginning of the table. */
function encodeBound(key: string | undefined, table: string): Position {
  return key === undefined || key === '' ? EMPTY_BYTES : encodeKey(key, table);
}

/** The live records of a leaf in [from, end), in order. */
function* recordsFrom(
  engine: Engine,
  leaf: Snapshot,
  place: Placer,
  from: Position,
  end: UpperBound,
): Generator<{ record: StoredRecord; at: Position }> {
  const nowMs = engine.runtime.wallMs();
  for (const page of pagesBetween(engine, leaf, place, from, end)) {
    for (let index = 0; index < recordCount(page); index += 1) {
      const record = recordAt(page, index);
      const at = place(record.key);
      if (compareBytes(at, from) < 0) continue;
      if (!beforeBound(at, end)) return;
      if (!isTombstone(record) && !isExpired(record, nowMs)) yield { record, at };
    }
  }
}

/** Pages that hold the records of a leaf in [from, end), in order, and some beside. A leaf in one layer gives its pages as they come. */
function* pagesBetween(
  engine: Engine,
  leaf: Snapshot,
  place: Placer,
  from: Position,
  end: UpperBound,
): Generator<Page> {
  const layers = layersOf(leaf.header).map((rows) =>
    rows.filter((ref, row) => {
      const next = rows[row + 1];
      return (next === undefined || compareBytes(next.low, from) > 0) && (row === 0 || beforeBound(ref.low, end));
    }),
  );
  const expand = (ref: PageRef): Page => pageOf(leaf, ref, engine.table);
  const [only] = layers;
  if (layers.length > 1 || only === undefined) {
    yield flatten(
      layers.map((rows) => rows.map(expand)),
      place,
    );
  } else {
    for (const ref of only) yield expand(ref);
  }
}
