// A byte of each record (FORMAT.md, "Header"): a page without it does not hold the record.
// Filters of fingerprints: Fan et al., "Cuckoo Filter", 2014.
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/options.ts';
import { keyAt, type Page, recordCount } from './page-body.ts';
import { HASH_BYTES, type Position, positionsOf } from './position.ts';

/** Uniform among a leaf's keys: the last of the hash's bytes, or of the key's CRC-32. */
export function fingerprintOf(position: Position, order: Order): number {
  return order === 'hash' ? position[HASH_BYTES - 1]! : crc32(position) & 0xff;
}

/** One for each record of a leaf's page, in their order. */
export function fingerprintsOf(page: Page, order: Order): Uint8Array {
  const positionOf = positionsOf(order, 0);
  return Uint8Array.from({ length: recordCount(page) }, (_, index) =>
    fingerprintOf(positionOf(keyAt(page, index)), order),
  );
}
