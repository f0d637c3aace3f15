// A byte of each record of a page (FORMAT.md, "Header"): who looks for another need not read it.
// A page without the byte lacks the record, and one with it may: as in a cuckoo filter (Fan et al.,
// 2014).
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/options.ts';
import { keyAt, type Page, recordCount } from './page.ts';
import { HASH_BYTES, type Position, positionsOf } from './position.ts';

/** Uniform among a leaf's keys: the last of the hash's bytes, or of the key's CRC-32. */
export function fingerprintOf(position: Position, order: Order): number {
  return order === 'hash' ? position[HASH_BYTES - 1]! : crc32(position) & 0xff;
}

/** Of the records of a leaf's page, in their order. */
export function fingerprintsOf(page: Page, order: Order): Uint8Array {
  const positionOf = positionsOf(order, 0);
  return Uint8Array.from({ length: recordCount(page) }, (_, index) =>
    fingerprintOf(positionOf(keyAt(page, index)), order),
  );
}
