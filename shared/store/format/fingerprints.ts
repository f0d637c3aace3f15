// A fingerprint is one byte per record (FORMAT.md, "Header"). A page whose fingerprints lack a
// key's does not hold that key (filters of fingerprints: Fan et al., "Cuckoo Filter", 2014).
import { crc32 } from 'node:zlib';
import type { Order } from '../contract/options.ts';
import { keyAt, type Page, recordCount } from './page-body.ts';
import { HASH_BYTES, type Position, positionsOf } from './position.ts';

/** The last byte of the key's hash, or of its CRC-32. Either is uniform among a leaf's keys. */
export function fingerprintOf(position: Position, order: Order): number {
  return order === 'hash' ? position[HASH_BYTES - 1]! : crc32(position) & 0xff;
}

/** The fingerprints of a leaf's page, in the order of its records. */
export function fingerprintsOf(page: Page, order: Order): Uint8Array {
  const positionOf = positionsOf(order, 0);
  return Uint8Array.from({ length: recordCount(page) }, (_, index) =>
    fingerprintOf(positionOf(keyAt(page, index)), order),
  );
}
