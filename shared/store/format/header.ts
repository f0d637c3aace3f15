// The header of a container, part `h` (FORMAT.md, "Header").
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/options.ts';
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import {
  asBuffer,
  ByteReader,
  ByteWriter,
  checkCrc,
  CRC_BYTES,
  FORMAT_VERSION,
  id64,
  type Id64,
  ID64_BYTES,
  owned,
  readMany,
  readOptional,
  writeOptional,
} from './bytes.ts';
import { type DeadSlot, type PageRef, readPageTable, ROW_BYTES_EXPECTED, writePageTable } from './page-table.ts';
import type { Position, UpperBound } from './position.ts';

/** Every commit sends the header: a larger one splits its container. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** Ids of the last commits in a header. An older attempt can no longer be settled. */
const COMMIT_IDS_KEPT = 128;

/** A header without its page table: all commit ids, and short bounds. */
export const HEADER_FIXED_BYTES = COMMIT_IDS_KEPT * ID64_BYTES + 256;

/** A guess at all but commit ids and page table, so that the writer's memory rarely grows. */
const OTHER_FIELDS_BYTES = 192;

const MAGIC = 0x5357;
const ORDERS: readonly Order[] = ['hash', 'key'];
/** From here on the order's byte means order `key`, and is the character that ends groups. */
const FIRST_GROUP_END = 0x21;
const STATES = ['live', 'removing', 'removed', 'retired', 'merged'] as const;

/**
 * A root is `removing` or `removed` once its table is dropped. A leaf is `retired` until its left
 * neighbour absorbs it, then `merged` (rule 26). All other nodes are `live`.
 */
export type NodeState = (typeof STATES)[number];

/** The node whose split made this one, and its version then. A root's is in admin/lifecycle.ts. */
interface Origin {
  readonly id: EntityId;
  readonly version: EntityVersion;
}

/** A node that a split made. */
export interface Part {
  readonly low: Position;
  readonly container: Id64;
}

/** The nodes that the last split made: a reader jumps there instead of following links. */
export interface LastSplit {
  /** In order of their lows. */
  readonly parts: readonly Part[];
  /** The number of the commit that made them. */
  readonly commit: number;
}

export interface Header {
  readonly order: Order;
  /** The character that ends the group of a key; undefined if keys have none. */
  readonly groupBy: string | undefined;
  readonly state: NodeState;
  readonly incarnation: Id64;
  readonly container: Id64;
  /** 0: a leaf; above: a branch. */
  readonly level: number;
  readonly low: Position;
  readonly high: UpperBound;
  readonly right: Id64 | undefined;
  /** The next number for a record change or a page: above all used here, or handed on to here. */
  readonly nextNumber: number;
  readonly commitCount: number;
  /** The ids of the last commits, oldest first, 8 bytes each. */
  readonly commitIds: Uint8Array;
  readonly createdAtMs: number;
  readonly origin: Origin | undefined;
  /** Slots without a page. Their emptied chunks still count. */
  readonly deadSlots: readonly DeadSlot[];
  /** The base's rows in order of their lows, then those of each layer above, oldest first. */
  readonly pages: readonly PageRef[];
  /** How many of the rows each layer above the base has. */
  readonly layers: readonly number[];
  /** The last writer splits the container and asks others to wait as long; 0: it does not. */
  readonly freezeMs: number;
  /** Undefined if it was not split lately. */
  readonly lastSplit: LastSplit | undefined;
}

/** A node of which no page is left: nobody splits it, and its last split names nodes no more. */
export const NO_PAGES = { pages: [], layers: [], deadSlots: [], freezeMs: 0, lastSplit: undefined } as const;

/** Appends an id, and drops the oldest one too many. */
export function appendCommitId(ids: Uint8Array, id: Id64): Uint8Array {
  const kept =
    ids.length >= COMMIT_IDS_KEPT * ID64_BYTES ? ids.subarray(ids.length - (COMMIT_IDS_KEPT - 1) * ID64_BYTES) : ids;
  const appended = Buffer.allocUnsafeSlow(kept.length + ID64_BYTES);
  appended.set(kept);
  appended.write(id, kept.length, ID64_BYTES, 'hex');
  return appended;
}

/** The id of commit number `count`; undefined if it is too old, or did not happen yet. */
export function commitIdAt(header: Header, count: number): Id64 | undefined {
  const fromEnd = header.commitCount - count + 1;
  const start = header.commitIds.length - fromEnd * ID64_BYTES;
  if (fromEnd < 1 || start < 0) return undefined;
  return id64(header.commitIds.subarray(start, start + ID64_BYTES));
}

/** `before`: the header that this one replaces. Unchanged rows are copied from its bytes. */
export function encodeHeader(header: Header, before?: Header): Uint8Array {
  const { pages, commitIds } = header;
  const writer = new ByteWriter(OTHER_FIELDS_BYTES + commitIds.length + pages.length * ROW_BYTES_EXPECTED);
  writer.u16(MAGIC);
  writer.u8(FORMAT_VERSION);
  writer.u8(header.groupBy?.charCodeAt(0) ?? ORDERS.indexOf(header.order));
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
  writeCourtesies(writer, header);
  writer.u32(crc32(writer.view()));
  return writer.view();
}

/** Whether these are bytes of a header, of whatever format. A page begins with its version. */
export function isHeader(bytes: Uint8Array): boolean {
  return bytes[0] === MAGIC >> 8 && bytes[1] === (MAGIC & 0xff);
}

/** Throws a RangeError for damage or a newer format. Pages come without content. */
export function decodeHeader(stored: Uint8Array): Header {
  const bytes = asBuffer(stored);
  const reader = new ByteReader(bytes);
  if (reader.u16() !== MAGIC) throw new RangeError('header does not begin as one');
  const version = reader.u8();
  if (version !== FORMAT_VERSION) throw new RangeError(`header format ${version} is not known to this release`);
  checkCrc(bytes, 'header');
  const place = {
    ...orderOf(reader.u8()),
    state: oneOf(STATES, reader.u8()),
    level: reader.u8(),
    incarnation: reader.id(),
    container: reader.id(),
    low: owned(reader.bytes()),
  };
  const header: Header = {
    ...place,
    high: readOptional(reader, () => owned(reader.bytes())),
    right: readOptional(reader, () => reader.id()),
    nextNumber: reader.varint(),
    commitCount: reader.varint(),
    commitIds: owned(reader.bytes()),
    createdAtMs: reader.varint(),
    origin: readOptional(reader, () => ({
      id: reader.bytes().toString('utf8') as EntityId,
      version: reader.bytes().toString('utf8') as EntityVersion,
    })),
    deadSlots: readMany(reader, () => ({ slot: reader.varint(), chunksMost: reader.varint() })),
    pages: readPageTable(reader, place.low),
    layers: readMany(reader, () => reader.varint()),
    ...readCourtesies(reader),
  };
  const rowsAbove = header.layers.reduce((sum, rows) => sum + rows, 0);
  if (rowsAbove > header.pages.length) throw new RangeError('header names more rows than it has');
  return header;
}

/** Hints to other processes. No promise depends on them. */
type Courtesies = Pick<Header, 'freezeMs' | 'lastSplit'>;

function writeCourtesies(writer: ByteWriter, { freezeMs, lastSplit }: Courtesies): void {
  if (freezeMs > 0 || lastSplit !== undefined) writer.varint(freezeMs);
  if (lastSplit === undefined) return;
  writer.varint(lastSplit.parts.length);
  for (const { low, container } of lastSplit.parts) {
    writer.bytes(low);
    writer.id(container);
  }
  writer.varint(lastSplit.commit);
}

function readCourtesies(reader: ByteReader): Courtesies {
  const freezeMs = reader.left > CRC_BYTES ? reader.varint() : 0;
  if (reader.left === CRC_BYTES) return { freezeMs, lastSplit: undefined };
  const parts = readMany(reader, () => ({ low: owned(reader.bytes()), container: reader.id() }));
  return { freezeMs, lastSplit: { parts, commit: reader.varint() } };
}

function orderOf(byte: number): Pick<Header, 'order' | 'groupBy'> {
  if (byte < FIRST_GROUP_END) return { order: oneOf(ORDERS, byte), groupBy: undefined };
  return { order: 'key', groupBy: String.fromCharCode(byte) };
}

function oneOf<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError(`header holds the unknown tag ${index}`);
  return value;
}
