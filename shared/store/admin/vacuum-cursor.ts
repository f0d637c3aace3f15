// A vacuum's cursor: the position from which leaves must still be merged, or the beginning, where
// orphans must still be judged. Its CRC-32 covers the table's name, so that no other table accepts
// it.
import { crc32 } from 'node:zlib';
import { StoreError } from '../contract/errors.ts';
import { ByteReader, ByteWriter, checkCrc } from '../format/bytes.ts';
import type { Position } from '../format/position.ts';

const AT_THE_BEGINNING = 0;
const MERGING = 1;

/** `undefined` stands for the beginning. */
export function encodeVacuumCursor(from: Position | undefined, table: string): string {
  const writer = new ByteWriter(32);
  writer.u8(from === undefined ? AT_THE_BEGINNING : MERGING);
  if (from !== undefined) writer.bytes(from);
  writer.u32(crc32(writer.view(), crc32(table)));
  return writer.view().toString('base64url');
}

/** Throws `invalid` for a text that no vacuum of the table gave. */
export function decodeVacuumCursor(cursor: string, table: string): Position | undefined {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    checkCrc(bytes, 'cursor', crc32(table));
    const reader = new ByteReader(bytes);
    return reader.u8() === AT_THE_BEGINNING ? undefined : reader.bytes();
  } catch (cause) {
    const message = 'this cursor was not given by a vacuum of this table: begin anew, without it';
    throw new StoreError('invalid', message, { table, cause });
  }
}
