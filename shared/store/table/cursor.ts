// The cursor of a scan: incarnation, order, bounds and the next position, never a node; so it resumes in any process, through any splits.
// Bytes: version u8 | order u8 | incarnation 8 | position bytes | has end u8 | [end bytes] | crc32 u32, in base64url.
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

export function encodeCursor(state: ScanState): string {
  const writer = new ByteWriter(64);
  writer.u8(CURSOR_VERSION);
  writer.u8(state.order === 'hash' ? 0 : 1);
  writer.id(state.incarnation);
  writer.bytes(state.position);
  writer.u8(state.end === undefined ? 0 : 1);
  if (state.end !== undefined) writer.bytes(state.end);
  writer.u32(crc32(writer.view()));
  return writer.view().toString('base64url');
}

/** Throws `invalid` for what no scan has given. */
export function decodeCursor(cursor: string, table: string): ScanState {
  try {
    const bytes = asBuffer(Buffer.from(cursor, 'base64url'));
    const reader = new ByteReader(bytes);
    if (reader.u8() !== CURSOR_VERSION) throw new RangeError('unknown version');
    if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32BE(bytes.length - 4)) throw new RangeError('damaged');
    const order = reader.u8() === 0 ? 'hash' : 'key';
    const incarnation = reader.id();
    const position = reader.bytes();
    return { order, incarnation, position, end: reader.u8() === 0 ? undefined : reader.bytes() };
  } catch (cause) {
    throw new StoreError(
      'invalid',
      'this cursor was not given by a scan of this store: begin the scan anew, without it',
      { table, cause },
    );
  }
}
