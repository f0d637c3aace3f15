// The header of a container, part `h` (FORMAT.md, "Header").
import { crc32 } from 'node:zlib';
import type { EntityId, EntityVersion } from '../contract/driver.ts';
import type { Order } from '../contract/options.ts';
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

/** A container whose header would be larger is split, as every commit sends the header. */
export const HEADER_BYTES_MAX = 16 * 1024;

/** How many commit ids a header keeps. Older attempts can no longer be settled. */
const COMMIT_IDS_KEPT = 128;

/** How many commits of a split node keep naming the nodes that the split made. */
const SPLIT_COMMITS_KEPT = 32;

/** The size of a header with all its commit ids and short bounds, without its page table. */
export const HEADER_FIXED_BYTES = COMMIT_IDS_KEPT * ID64_BYTES + 256;

/** An estimate of all but commit ids and page table, so that the writer's buffer rarely grows. */
const OTHER_FIELDS_BYTES = 192;

const MAGIC = 0x5357;
const ORDERS: readonly Order[] = ['hash', 'key'];
/** An `order` byte from here on means order `key`, and is the character that ends a group. */
const FIRST_GROUP_END = 0x21;
const STATES = ['live', 'removing', 'removed', 'retired', 'merged'] as const;

/**
 * A root is `removing` or `removed` once its table is dropped. A leaf is `retired` until its left
 * neighbour absorbs it, then `merged` (rule 26). All other nodes are `live`.
 */
export type NodeState = (typeof STATES)[number];

/** The node whose split made this one, and its version then. For roots see admin/lifecycle.ts. */
interface Origin {
  readonly id: EntityId;
  readonly version: EntityVersion;
}

/** A node that was split off another. */
export interface SplitPart {
  readonly low: Position;
  readonly container: Id64;
}

/** The nodes that the last split made. A search can jump there instead of following links. */
export interface LastSplit {
  /** Sorted by their lows. */
  readonly parts: readonly SplitPart[];
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
  /** 0 for a leaf, 1 and up for branches. */
  readonly level: number;
  readonly low: Position;
  readonly high: UpperBound;
  readonly right: Id64 | undefined;
  /** The next number for a change or a page, above all that its content has used so far. */
  readonly nextNumber: number;
  readonly commitCount: number;
  /** The ids of the last commits, oldest first, 8 bytes each. */
  readonly commitIds: Uint8Array;
  readonly createdAtMs: number;
  readonly origin: Origin | undefined;
  /** Slots without a page, whose emptied chunks still count against the entity's size. */
  readonly deadSlots: readonly DeadSlot[];
  /** The base's rows sorted by their lows, then those of each layer above it, oldest first. */
  readonly pages: readonly PageRef[];
  /** How many rows each layer above the base has. */
  readonly layers: readonly number[];
  /** How long the last writer asks others to wait while it splits the container; else 0. */
  readonly freezeMs: number;
  /** Undefined unless it was split lately. */
  readonly lastSplit: LastSplit | undefined;
}

/** The fields of a node without pages: nothing of it is left to split, or to count. */
export const NO_PAGES = { pages: [], layers: [], deadSlots: [], freezeMs: 0, lastSplit: undefined } as const;

/** Encodes a header. Rows that it shares with `before`, which it replaces, are copied. */
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

/** Whether the bytes begin as a header of any format does. Those of a page never do. */
export function isHeader(bytes: Uint8Array): boolean {
  return bytes[0] === MAGIC >> 8 && bytes[1] === (MAGIC & 0xff);
}

/** Decodes a header, without pages' content. Throws a RangeError for damage or a newer format. */
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

/** Hints to other processes. Nothing that the store promises depends on them. */
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

/**
 * The header after the commit `attempt`: it counts one more commit, ends its ids with that of the
 * attempt, and goes on with the next number of `header`. Every write of an existing container
 * starts from it. Otherwise an attempt could not be settled (rule 3), or a record's version would
 * return (invariants 3 and 7).
 */
export function successor(header: Header, attempt: Id64): Header {
  return {
    ...header,
    commitCount: header.commitCount + 1,
    commitIds: appendCommitId(header.commitIds, attempt),
    freezeMs: 0,
    lastSplit: lastSplitAfter(header.lastSplit, header.commitCount + 1),
  };
}

/** What the header of commit number `commitCount` still names of the split before. */
export function lastSplitAfter(before: LastSplit | undefined, commitCount: number): LastSplit | undefined {
  return before !== undefined && commitCount - before.commit <= SPLIT_COMMITS_KEPT ? before : undefined;
}

/** Appends an id, and drops the oldest if there are too many. */
export function appendCommitId(ids: Uint8Array, id: Id64): Uint8Array {
  const kept =
    ids.length >= COMMIT_IDS_KEPT * ID64_BYTES ? ids.subarray(ids.length - (COMMIT_IDS_KEPT - 1) * ID64_BYTES) : ids;
  const appended = Buffer.allocUnsafeSlow(kept.length + ID64_BYTES);
  appended.set(kept);
  appended.write(id, kept.length, ID64_BYTES, 'hex');
  return appended;
}

/** The id of commit number `count`; undefined if it is too old or has not happened yet. */
export function commitIdAt(header: Header, count: number): Id64 | undefined {
  const fromEnd = header.commitCount - count + 1;
  const start = header.commitIds.length - fromEnd * ID64_BYTES;
  if (fromEnd < 1 || start < 0) return undefined;
  return id64(header.commitIds.subarray(start, start + ID64_BYTES));
}

/**
 * Hexadecimal digits of the tag of a process, with which the id of each of its commits begins.
 * Processes with equal tags take each other's commits for their own.
 */
export const TAG_DIGITS = 4;
/** A process that made none of the last so many commits is assumed to have stopped. */
const COMMITS_REMEMBERED = 32;

/** The id with its first digits replaced by the tag of its process. */
export function tagged(id: Id64, tag: string): Id64 {
  return `${tag}${id.slice(TAG_DIGITS)}` as Id64;
}

/** How many of the last writers last wrote before this one did; undefined if it is none of them. */
export function writersAhead({ commitIds }: Header, tag: string): number | undefined {
  // Each writer once, the latest first.
  const writers = [...new Set(lastTags(commitIds, COMMITS_REMEMBERED).toReversed())];
  const place = writers.indexOf(tag);
  return place === -1 ? undefined : writers.length - 1 - place;
}

/** The tags of the processes that made the commits after number `count`, as far as listed. */
export function writersSince({ commitCount, commitIds }: Header, count: number): Set<string> {
  return new Set(lastTags(commitIds, commitCount - count));
}

/** The tags of the last `count` ids, oldest first; fewer if there are not so many. */
function lastTags(ids: Uint8Array, count: number): string[] {
  const tags: string[] = [];
  for (let at = Math.max(0, ids.length - count * ID64_BYTES); at < ids.length; at += ID64_BYTES)
    tags.push(asBuffer(ids).toString('hex', at, at + TAG_DIGITS / 2));
  return tags;
}
