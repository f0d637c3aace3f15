// A header's page table (FORMAT.md, "Header"). Each low is stored without the prefix that it shares
// with the low before it.
import type { StoreError } from '../contract/errors.ts';
import { type ByteReader, type ByteWriter, owned, readMany, sharedPrefix } from './bytes.ts';
import type { Page } from './page-body.ts';
import type { Position } from './position.ts';

/** A slot without a page. Its `chunksMost` emptied chunks still count against the entity's size. */
export interface DeadSlot {
  readonly slot: number;
  readonly chunksMost: number;
}

/** A row of the table. Its page owns the positions from `low` to the low of the next row. */
export interface PageRef {
  readonly low: Position;
  readonly slot: number;
  readonly records: number;
  readonly sealedBytes: number;
  readonly number: number;
  readonly crc: number;
  readonly compression: number;
  /** False only if no record of the page expires or is a tombstone. */
  readonly mayHoldDead: boolean;
  /** The most chunks that the slot has taken since the entity was inserted or replaced. */
  readonly chunksMost: number;
  /** One byte per record, in small layers above the base. */
  readonly fingerprints: Uint8Array | undefined;
  /** Shared by the snapshots of all versions that have this page. */
  content: PageContent;
}

/** The rows, and the container's low, relative to which the first row is stored. */
export interface PageTable {
  readonly low: Position;
  readonly pages: readonly PageRef[];
}

/** Bits of a row's `form`: `mayHoldDead` is false, and fingerprints follow. */
const ALL_LIVE = 0x80;
const HAS_FINGERPRINTS = 0x40;

/** An encoded page table, and the offset of each row; the last offset is its length. */
interface EncodedTable {
  readonly bytes: Uint8Array;
  readonly starts: readonly number[];
}

/** More bytes than most rows take, so that the writer's buffer rarely grows. */
export const ROW_BYTES_EXPECTED = 20;

/** Encoded tables by their rows. The next version copies the rows that its commit kept. */
const encodedTables = new WeakMap<readonly PageRef[], EncodedTable>();

/** Copies the rows at both ends that this table shares with `before` from its encoded form. */
export function writePageTable(writer: ByteWriter, { low, pages }: PageTable, before: PageTable | undefined): void {
  writer.varint(pages.length);
  const begin = writer.length;
  const old = before?.low === low ? encodedTables.get(before.pages) : undefined;
  const oldPages = old === undefined || before === undefined ? [] : before.pages;
  const head = sameRows(pages, oldPages);
  const tail = sameRowsAtEnd(pages, oldPages, head);
  const starts = old === undefined ? [0] : old.starts.slice(0, head + 1);
  if (old !== undefined) writer.raw(old.bytes.subarray(0, old.starts[head]));
  for (let row = head; row < pages.length - tail; row += 1) {
    writeRow(writer, pages[row]!, row === 0 ? low : pages[row - 1]!.low);
    starts.push(writer.length - begin);
  }
  if (old !== undefined && tail > 0) {
    const first = oldPages.length - tail;
    const shift = starts.at(-1)! - old.starts[first]!;
    writer.raw(old.bytes.subarray(old.starts[first]));
    for (let row = first; row < oldPages.length; row += 1) starts.push(old.starts[row + 1]! + shift);
  }
  // This view keeps the whole header in memory, which is hardly longer than its table.
  encodedTables.set(pages, { bytes: writer.view().subarray(begin), starts });
}

function sameRows(pages: readonly PageRef[], old: readonly PageRef[]): number {
  let same = 0;
  while (same < pages.length && pages[same] === old[same]) same += 1;
  return same;
}

/** Counts the equal rows at the end. The bytes of a row depend on the low before it, too. */
function sameRowsAtEnd(pages: readonly PageRef[], old: readonly PageRef[], head: number): number {
  const most = Math.min(pages.length, old.length) - head;
  let same = 0;
  while (same < most && pages.at(-1 - same) === old.at(-1 - same)) same += 1;
  const isAfterSame = pages.at(-1 - same)?.low === old.at(-1 - same)?.low;
  return same > 0 && !isAfterSame ? same - 1 : same;
}

function writeRow(writer: ByteWriter, ref: PageRef, previous: Position): void {
  const shared = sharedPrefix(previous, ref.low);
  writer.varint(shared);
  writer.bytes(ref.low.subarray(shared));
  writer.varint(ref.slot);
  writer.varint(ref.records);
  writer.varint(ref.sealedBytes);
  writer.varint(ref.number);
  writer.u32(ref.crc);
  writer.u8(
    ref.compression | (ref.mayHoldDead ? 0 : ALL_LIVE) | (ref.fingerprints === undefined ? 0 : HAS_FINGERPRINTS),
  );
  writer.varint(ref.chunksMost);
  if (ref.fingerprints !== undefined) writer.raw(ref.fingerprints);
}

/** Reads the table of a container with this low. */
export function readPageTable(reader: ByteReader, low: Position): PageRef[] {
  let previous = low;
  return readMany(reader, () => {
    const row = readRow(reader, previous);
    previous = row.low;
    return row;
  });
}

/** Builds the row as one literal, as spreading a part of it took as long as everything else. */
function readRow(reader: ByteReader, previous: Position): PageRef {
  const low = reader.bytesAfter(previous, reader.varint());
  const slot = reader.varint();
  const records = reader.varint();
  const sealedBytes = reader.varint();
  const number = reader.varint();
  const crc = reader.u32();
  const form = reader.u8();
  const mayHoldDead = (form & ALL_LIVE) === 0;
  const chunksMost = reader.varint();
  // A copy: a view would keep the whole header in memory.
  const fingerprints = (form & HAS_FINGERPRINTS) === 0 ? undefined : Uint8Array.from(reader.raw(records));
  const content = new PageContent();
  return {
    low,
    slot,
    records,
    sealedBytes,
    number,
    crc,
    compression: form & ~(ALL_LIVE | HAS_FINGERPRINTS),
    mayHoldDead,
    chunksMost,
    fingerprints,
    content,
  };
}

export function asDeadSlot({ slot, chunksMost }: DeadSlot): DeadSlot {
  return { slot, chunksMost };
}

/** Memory of the objects that V8 makes for one buffer, measured. */
const OBJECTS_BYTES = 256;
/** Memory per record start: 8 bytes, and half as many more as V8's arrays grow in steps. */
const START_BYTES = 12;

/**
 * The bytes of a page in memory: sealed (as stored), expanded, both or neither. They are filled in
 * when they become known. All snapshots that have the page share one object.
 */
export class PageContent {
  sealed: Uint8Array | undefined;
  page: Page | undefined;
  /** Why the sealed form was dropped; undefined otherwise. */
  damage: StoreError | undefined;
  /** The memory that both forms take. The cache's bound counts it. */
  heldBytes = 0;

  constructor(sealed?: Uint8Array, page?: Page) {
    this.#hold(sealed, page);
  }

  get isKnown(): boolean {
    return this.page !== undefined || this.sealed !== undefined;
  }

  /** Keeps the sealed form, unless either form is known. */
  offer(sealed: Uint8Array | undefined): void {
    if (!this.isKnown) this.#hold(sealed && owned(sealed), undefined);
  }

  /** Replaces the sealed form, which only a split or a replace needs and can make anew. */
  expandTo(page: Page): void {
    this.#hold(undefined, page);
  }

  /** Drops the damaged or missing sealed form, so that the next reader asks for it again. */
  forget(damage: StoreError): void {
    this.#hold(undefined, this.page);
    this.damage = damage;
  }

  #hold(sealed: Uint8Array | undefined, page: Page | undefined): void {
    this.sealed = sealed;
    this.page = page;
    const sealedBytes = sealed === undefined ? 0 : OBJECTS_BYTES + sealed.length;
    const pageBytes = page === undefined ? 0 : OBJECTS_BYTES + page.body.length + START_BYTES * page.starts.length;
    this.heldBytes = sealedBytes + pageBytes;
  }
}
