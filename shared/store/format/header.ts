// The header of a container, part `h`. FORMAT.md, "Header". It says which positions the container owns, who stands to its right,
// which commits it took, and where each page lies.
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/api.ts';
import { asBuffer, ByteReader, ByteWriter, type Id64, ID64_BYTES } from './bytes.ts';
import { PageContent } from './page-content.ts';
import { FORMAT_VERSION } from './page.ts';
import type { Position, UpperBound } from './position.ts';

/** A header beyond this splits its container: it travels with every commit. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** How many of the last commits' ids a header keeps: an attempt older than that can no longer be settled. */
export const COMMIT_IDS_KEPT = 128;

/** What a header takes beside its page table: commit ids at their most, short bounds. */
export const HEADER_FIXED_BYTES = COMMIT_IDS_KEPT * ID64_BYTES + 256;

const MAGIC = 0x5357;
const ORDERS: readonly Order[] = ['hash', 'key'];
const STATES = ['live', 'removing', 'removed'] as const;

/** Roots only: `removing` and `removed` are tombstones of a dropped table; every other node is `live`. */
export type NodeState = (typeof STATES)[number];

/** The node whose split made this one, and the version it had then. */
export interface Origin {
  readonly id: string;
  readonly version: string;
}

/** A slot of the entity: how many chunks it has taken at most since the last insert or replace. */
export interface DeadSlot {
  readonly slot: number;
  readonly chunksMost: number;
}

/** A row of the page table. The page owns the positions from `low` to the next page's low. */
export interface PageRef {
  readonly low: Position;
  readonly slot: number;
  readonly records: number;
  readonly sealedBytes: number;
  readonly number: number;
  readonly crc: number;
  readonly compression: number;
  readonly chunksMost: number;
  /** Shared by the snapshots of all versions in which the page is the same. */
  content: PageContent;
}

export interface Header {
  readonly order: Order;
  readonly state: NodeState;
  readonly incarnation: Id64;
  readonly container: Id64;
  /** 0: a leaf; above: a branch. */
  readonly level: number;
  readonly low: Position;
  readonly high: UpperBound;
  readonly right: Id64 | undefined;
  /** The next number for a record change or a page: above all that were used in this container, or handed on to it. */
  readonly nextNumber: number;
  readonly commitCount: number;
  /** The ids of the last commits, oldest first, 8 bytes each. */
  readonly commitIds: Uint8Array;
  readonly createdAtMs: number;
  readonly origin: Origin | undefined;
  /** Slots without a page, whose emptied chunks still count. */
  readonly deadSlots: readonly DeadSlot[];
  /** The rows of the base, in order of their lows, then those of each layer above it, oldest first. See layers.ts. */
  readonly pages: readonly PageRef[];
  /** How many of the rows each layer above the base has. */
  readonly layers: readonly number[];
}

/** The ids with one more at the end, the oldest beyond the kept number dropped. */
export function appendCommitId(ids: Uint8Array, id: Id64): Uint8Array {
  const kept =
    ids.length >= COMMIT_IDS_KEPT * ID64_BYTES ? ids.subarray(ids.length - (COMMIT_IDS_KEPT - 1) * ID64_BYTES) : ids;
  const appended = Buffer.allocUnsafe(kept.length + ID64_BYTES);
  appended.set(kept);
  appended.write(id, kept.length, ID64_BYTES, 'hex');
  return appended;
}

/** The id of commit number `count`, or undefined if the list no longer, or not yet, holds it. */
export function commitIdAt(header: Header, count: number): Id64 | undefined {
  const fromEnd = header.commitCount - count + 1;
  const start = header.commitIds.length - fromEnd * ID64_BYTES;
  if (fromEnd < 1 || start < 0) return undefined;
  return asBuffer(header.commitIds).toString('hex', start, start + ID64_BYTES);
}

/** `before`: the version that this one was made from, if it was: what did not change is copied from its encoded form. */
export function encodeHeader(header: Header, before?: Header): Uint8Array {
  const writer = new ByteWriter(256 + header.commitIds.length + header.pages.length * 32);
  writer.u16(MAGIC);
  writer.u8(FORMAT_VERSION);
  writer.u8(ORDERS.indexOf(header.order));
  writer.u8(STATES.indexOf(header.state));
  writer.u8(header.level);
  writer.id(header.incarnation);
  writer.id(header.container);
  writer.bytes(header.low);
  writeOptional(writer, header.high, (high) => writer.bytes(high));
  writeOptional(writer, header.right, (right) => writer.id(right));
  writer.varint(header.nextNumber);
  writer.varint(header.commitCount);
  writer.bytes(header.commitIds);
  writer.varint(header.createdAtMs);
  writeOptional(writer, header.origin, (origin) => {
    writer.bytes(Buffer.from(origin.id, 'utf8'));
    writer.bytes(Buffer.from(origin.version, 'utf8'));
  });
  writer.varint(header.deadSlots.length);
  for (const { slot, chunksMost } of header.deadSlots) {
    writer.varint(slot);
    writer.varint(chunksMost);
  }
  writePageTable(writer, header, before);
  writer.varint(header.layers.length);
  for (const rows of header.layers) writer.varint(rows);
  writer.u32(crc32(writer.view()));
  return writer.view();
}

function writeOptional<T>(writer: ByteWriter, value: T | undefined, write: (value: T) => void): void {
  writer.u8(value === undefined ? 0 : 1);
  if (value !== undefined) write(value);
}

/** The page table of one version as it was encoded, and where each row begins, and the last one ends. */
interface EncodedTable {
  readonly bytes: Uint8Array;
  readonly starts: readonly number[];
}

/** By the rows themselves: a commit changes few of a hundred, and the next version's table copies the others from here. */
const encodedTables = new WeakMap<readonly PageRef[], EncodedTable>();

function writePageTable(writer: ByteWriter, { low, pages }: Header, before: Header | undefined): void {
  writer.varint(pages.length);
  const begin = writer.length;
  const starts = [0];
  const old = before?.low === low ? encodedTables.get(before.pages) : undefined;
  const oldPages = old === undefined || before === undefined ? [] : before.pages;
  const head = sameRows(pages, oldPages);
  const tail = sameRowsAtEnd(pages, oldPages, head);
  const encode = (first: number, end: number): void => {
    for (let row = first; row < end; row += 1) {
      writeRow(writer, pages[row]!, row === 0 ? low : pages[row - 1]!.low);
      starts.push(writer.length - begin);
    }
  };
  const copy = (first: number, end: number): void => {
    if (old === undefined || end <= first) return;
    const shift = starts.at(-1)! - old.starts[first]!;
    writer.raw(old.bytes.subarray(old.starts[first], old.starts[end]));
    for (let row = first; row < end; row += 1) starts.push(old.starts[row + 1]! + shift);
  };
  copy(0, head);
  encode(head, pages.length - tail);
  copy(oldPages.length - tail, oldPages.length);
  encodedTables.set(pages, { bytes: Buffer.from(writer.view().subarray(begin)), starts });
}

function sameRows(pages: readonly PageRef[], old: readonly PageRef[]): number {
  let same = 0;
  while (same < pages.length && pages[same] === old[same]) same += 1;
  return same;
}

/** How many of the last rows are the same and stand after the same low, which is what a row's bytes depend on. */
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
  writer.u8(ref.compression);
  writer.varint(ref.chunksMost);
}

function sharedPrefix(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared += 1;
  return shared;
}

/** Decodes a header; throws a RangeError that says what is wrong (damage, or a newer format). Pages come without content. */
export function decodeHeader(stored: Uint8Array): Header {
  const bytes = asBuffer(stored);
  const reader = new ByteReader(bytes);
  if (reader.u16() !== MAGIC) throw new RangeError('header does not begin as one');
  const version = reader.u8();
  if (version !== FORMAT_VERSION) throw new RangeError(`header format ${version} is not known to this release`);
  if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32BE(bytes.length - 4))
    throw new RangeError('header checksum does not match');
  const order = oneOf(ORDERS, reader.u8());
  const state = oneOf(STATES, reader.u8());
  const level = reader.u8();
  const incarnation = reader.id();
  const container = reader.id();
  const low = reader.bytes();
  const header: Header = {
    order,
    state,
    level,
    incarnation,
    container,
    low,
    high: readOptional(reader, () => reader.bytes()),
    right: readOptional(reader, () => reader.id()),
    nextNumber: reader.varint(),
    commitCount: reader.varint(),
    commitIds: reader.bytes(),
    createdAtMs: reader.varint(),
    origin: readOptional(reader, () => ({
      id: reader.bytes().toString('utf8'),
      version: reader.bytes().toString('utf8'),
    })),
    deadSlots: readMany(reader, () => ({ slot: reader.varint(), chunksMost: reader.varint() })),
    pages: readPageTable(reader, low),
    layers: readMany(reader, () => reader.varint()),
  };
  const rowsAbove = header.layers.reduce((sum, rows) => sum + rows, 0);
  if (rowsAbove > header.pages.length) throw new RangeError('header names more rows than it has');
  return header;
}

function oneOf<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`header holds the unknown tag ${index}`);
  return value;
}

function readOptional<T>(reader: ByteReader, read: () => T): T | undefined {
  return reader.u8() === 0 ? undefined : read();
}

function readMany<T>(reader: ByteReader, read: () => T): T[] {
  const values: T[] = [];
  for (let left = reader.varint(); left > 0; left -= 1) values.push(read());
  return values;
}

function readPageTable(reader: ByteReader, low: Position): PageRef[] {
  let previous = low;
  return readMany(reader, () => {
    const shared = reader.varint();
    const rest = reader.bytes();
    previous = shared === 0 ? rest : Buffer.concat([previous.subarray(0, shared), rest]);
    return {
      low: previous,
      slot: reader.varint(),
      records: reader.varint(),
      sealedBytes: reader.varint(),
      number: reader.varint(),
      crc: reader.u32(),
      compression: reader.u8(),
      chunksMost: reader.varint(),
      content: new PageContent(),
    };
  });
}
