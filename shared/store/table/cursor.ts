// The cursor of a scan: incarnation, order, bounds and the next position, never a node; so it resumes in any process, through any splits.
// Bytes: version u8 | order u8 | incarnation 8 | position bytes | has end u8 | [end bytes] | crc32 u32, in base64url. The checksum begins with
// the table's name, so no other table takes the cursor. It needs no key: who forges one reads what a scan without a cursor gives as well.
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/api.ts';
import { StoreError } from '../contract/errors.ts';
import { asBuffer, ByteReader, ByteWriter, type Id64 } from '../format/bytes.ts';
import type { Position, UpperBound } from '../format/position.ts';

const CURSOR_VERSION = 1;

export interface ScanState {
  readonly order: Order;
  readonly incarnation: Id64;
  /** The next record given stands here or after. */
  readonly position: Position;
  readonly end: UpperBound;
}

export function encodeCursor(state: ScanState, table: string): string {
  const writer = new ByteWriter(64);
  writer.u8(CURSOR_VERSION);
  writer.u8(state.order === 'hash' ? 0 : 1);
  writer.id(state.incarnation);
  writer.bytes(state.position);
  writer.u8(state.end === undefined ? 0 : 1);
  if (state.end !== undefined) writer.bytes(state.end);
  writer.u32(checksum(writer.view(), table));
  return writer.view().toString('base64url');
}

/** Throws `invalid` for what no scan of the table has given. */
export function decodeCursor(cursor: string, table: string): ScanState {
  try {
    const bytes = asBuffer(Buffer.from(cursor, 'base64url'));
    const reader = new ByteReader(bytes);
    if (reader.u8() !== CURSOR_VERSION) throw new RangeError('unknown version');
    if (checksum(bytes.subarray(0, -4), table) !== bytes.readUInt32BE(bytes.length - 4))
      throw new RangeError('damaged, or of another table');
    const order = reader.u8() === 0 ? 'hash' : 'key';
    const incarnation = reader.id();
    const position = reader.bytes();
    return { order, incarnation, position, end: reader.u8() === 0 ? undefined : reader.bytes() };
  } catch (cause) {
    throw new StoreError(
      'invalid',
      'this cursor was not given by a scan of this table: begin the scan anew, without it',
      { table, cause },
    );
  }
}

function checksum(bytes: Uint8Array, table: string): number {
  return crc32(bytes, crc32(table));
}
