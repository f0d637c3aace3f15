// A scan's cursor names a position, never a node, so any process can go on with it after any split.
import { crc32 } from 'node:zlib';
import type { Range } from '../container/layers.ts';
import type { Order } from '../contract/options.ts';
import { StoreError } from '../contract/errors.ts';
import { ByteReader, ByteWriter, checkCrc, type Id64, readOptional, writeOptional } from '../format/bytes.ts';

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
