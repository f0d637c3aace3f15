// The positions that the options of a scan, or its cursor, ask for. A cursor names a position,
// never a node, so any process can go on with it after any split.
import { crc32 } from 'node:zlib';
import type { Range } from '../container/layers.ts';
import type { Order, ScanOptions } from '../contract/options.ts';
import { StoreError } from '../contract/errors.ts';
import {
  ByteReader,
  ByteWriter,
  checkCrc,
  compareBytes,
  EMPTY_BYTES,
  type Id64,
  readOptional,
  writeOptional,
} from '../format/bytes.ts';
import {
  encodeKey,
  endOfPrefix,
  isSameBound,
  type Position,
  positionAfter,
  type UpperBound,
} from '../format/position.ts';

/** The positions of a scan, and the incarnation if a cursor names one. */
export interface Bounds extends Omit<ScanState, 'order' | 'incarnation'> {
  readonly incarnation: Id64 | undefined;
}

/** Throws `invalid` for senseless bounds, or bounds other than the cursor's. */
export function boundsOf(options: ScanOptions, order: Order, table: string): Bounds {
  const { prefix, from, after, to, through, limit, cursor, reverse } = options;
  const hasBounds = [prefix, from, after, to, through].some((bound) => bound !== undefined);
  const refuse = (message: string): never => {
    throw new StoreError('invalid', message, { table });
  };
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    refuse('limit must be a positive whole number');
  if (order === 'hash' && (hasBounds || reverse === true))
    refuse('prefix, from, after, to, through and reverse need a table of order "key"; this one has order "hash"');
  if (prefix !== undefined && [from, after, to, through].some((bound) => bound !== undefined))
    refuse('prefix goes with no other bound: for a part of what it names, give after and to');
  if (from !== undefined && after !== undefined) refuse('give from or after, not both');
  if (to !== undefined && through !== undefined) refuse('give to or through, not both');
  const low = after === undefined ? encodeBound(prefix ?? from, table) : positionAfter(encodeBound(after, table));
  const end = endOf(options, low, table);
  if (cursor === undefined) return { from: low, end, incarnation: undefined, isReverse: reverse === true };
  const state = decodeCursor(cursor, table);
  if (state.order !== order) refuse('this cursor belongs to a table of another order');
  if (hasBounds && !isWithin(state, low, end))
    refuse('a cursor carries its bounds: give the same as at first, or none');
  if (reverse !== undefined && reverse !== state.isReverse)
    refuse('a cursor carries its direction: give the same reverse as at first, or none');
  return state;
}

/** Throws `conflict` if the table is not the one in which the scan, or its cursor, began. */
export function checkIncarnation(expected: Id64 | undefined, incarnation: Id64, table: string): void {
  if (expected === undefined || expected === incarnation) return;
  const message = 'the table was dropped and created again since the scan began: begin anew, without a cursor';
  throw new StoreError('conflict', message, { table });
}

function endOf({ prefix, to, through }: ScanOptions, low: Position, table: string): UpperBound {
  if (prefix !== undefined) return endOfPrefix(low);
  if (through !== undefined) return positionAfter(encodeBound(through, table));
  return to === undefined ? undefined : encodeBound(to, table);
}

/** Whether the bounds may be the cursor's, which does not know where its scan began. */
function isWithin({ from: position, end, isReverse }: ScanState, low: Position, high: UpperBound): boolean {
  if (!isReverse) return compareBytes(low, position) <= 0 && isSameBound(end, high);
  return isSameBound(low, position) && (high === undefined || (end !== undefined && compareBytes(end, high) <= 0));
}

/** No bound, or an empty one, is the start of the table. */
function encodeBound(key: string | undefined, table: string): Position {
  return key === undefined || key === '' ? EMPTY_BYTES : encodeKey(key, table);
}

// Bytes: version u8 | order u8 | incarnation 8 | position bytes | end optional bytes | crc32 u32.
// The CRC-32 covers the table's name, so that no other table accepts the cursor.
const CURSOR_VERSION = 1;
/** The order byte of a reverse scan. */
const REVERSE = 2;

/** The positions that a scan has left. `from` moves up; in reverse, `end` moves down. */
export interface ScanState extends Range {
  readonly order: Order;
  readonly incarnation: Id64;
  /** From the end downwards, for order `key`. */
  readonly isReverse: boolean;
}

export function encodeCursor(state: ScanState, table: string): string {
  const writer = new ByteWriter(64);
  writer.u8(CURSOR_VERSION);
  writer.u8(state.isReverse ? REVERSE : state.order === 'hash' ? 0 : 1);
  writer.id(state.incarnation);
  writer.bytes(state.from);
  writeOptional(writer, state.end, (end) => writer.bytes(end));
  writer.u32(crc32(writer.view(), crc32(table)));
  return writer.view().toString('base64url');
}

/** Throws `invalid` for a text that no scan of the table gave. */
export function decodeCursor(cursor: string, table: string): ScanState {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    const reader = new ByteReader(bytes);
    if (reader.u8() !== CURSOR_VERSION) throw new RangeError('unknown version');
    checkCrc(bytes, 'cursor', crc32(table));
    const way = reader.u8();
    const incarnation = reader.id();
    const from = reader.bytes();
    const end = readOptional(reader, () => reader.bytes());
    return { order: way === 0 ? 'hash' : 'key', incarnation, from, end, isReverse: way === REVERSE };
  } catch (cause) {
    const message = 'this cursor was not given by a scan of this table: begin the scan anew, without it';
    throw new StoreError('invalid', message, { table, cause });
  }
}
