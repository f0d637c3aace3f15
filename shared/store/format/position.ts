// Positions of keys (FORMAT.md, "Positions"). They compare as unsigned bytes, the empty one first.
import { StoreError } from '../contract/errors.ts';
import type { Order } from '../contract/options.ts';
import { asBuffer, compareBytes, compareRange, owned, sharedPrefix } from './bytes.ts';

const KEY_BYTES_MAX = 1_024;
export const HASH_BYTES = 8;

/** Immutable. */
export type Position = Uint8Array;

/** An exclusive upper bound; undefined stands for infinity. */
export type UpperBound = Position | undefined;

export type PositionOf = (key: Uint8Array) => Position;

/** XXH64 with seed 0. */
export type KeyHash = (key: Uint8Array) => bigint;

let hashKey: KeyHash = () => {
  throw new Error('the hash of keys is not ready: loadHash() makes it so');
};

/** Sets the hash for tables of order `hash` (system/hash.ts). */
export function setKeyHash(hash: KeyHash): void {
  hashKey = hash;
}

const scratch = new DataView(new ArrayBuffer(HASH_BYTES));
const scratchBytes = new Uint8Array(scratch.buffer);

/** Copies byte by byte: for such short keys Buffer's methods take three times as long. */
function hashPosition(key: Uint8Array): Position {
  const position = Buffer.allocUnsafe(HASH_BYTES + key.length);
  scratch.setBigUint64(0, hashKey(key));
  position.set(scratchBytes);
  for (let index = 0; index < key.length; index += 1) position[HASH_BYTES + index] = key[index]!;
  return position;
}

/** Compares a key's hashed position with another. Allocates nothing: binary searches call it. */
export function compareHashed(key: Uint8Array, position: Position): number {
  scratch.setBigUint64(0, hashKey(key));
  const byHash = compareRange(position, 0, Math.min(HASH_BYTES, position.length), scratchBytes);
  return byHash === 0 ? -compareRange(position, HASH_BYTES, position.length, key) : -byHash;
}

export const keyPosition: PositionOf = (key) => key;

/** How a node's keys map to positions. In a branch (level 1 and up) they are positions already. */
export function positionsOf(order: Order, level: number): PositionOf {
  return order === 'hash' && level === 0 ? hashPosition : keyPosition;
}

/** Throws `invalid` for a key that is not well-formed, or not of 1 to 1,024 bytes of UTF-8. */
export function encodeKey(key: string, table: string): Uint8Array {
  if (typeof key !== 'string') throw new TypeError(`a key is a string, not ${typeof key}`);
  if (key.length === 0) throw new StoreError('invalid', 'the key is empty: give it at least one character', { table });
  if (!key.isWellFormed()) {
    const message = 'the key holds a lone surrogate: only well-formed Unicode has one encoding';
    throw new StoreError('invalid', message, { table, key });
  }
  // UTF-8 takes at least one byte per UTF-16 unit, so a long string is refused without encoding.
  const bytes = key.length > KEY_BYTES_MAX ? undefined : Buffer.from(key, 'utf8');
  if (bytes === undefined || bytes.length > KEY_BYTES_MAX) {
    throw new StoreError('invalid', `the key is longer than ${KEY_BYTES_MAX} bytes of UTF-8: shorten it`, { table });
  }
  return bytes;
}

export function decodeKey(key: Uint8Array): string {
  return asBuffer(key).toString('utf8');
}

export function within(position: Position, low: Position, high: UpperBound): boolean {
  return compareBytes(position, low) >= 0 && beforeBound(position, high);
}

export function beforeBound(position: Position, high: UpperBound): boolean {
  return high === undefined || compareBytes(position, high) < 0;
}

export function isSameBound(a: UpperBound, b: UpperBound): boolean {
  return a === undefined || b === undefined ? a === b : compareBytes(a, b) === 0;
}

/** The shortest position above `left` and not above `right`. Keeps tables of pages small. */
export function separatorBetween(left: Position, right: Position): Position {
  return owned(right.subarray(0, sharedPrefix(left, right) + 1));
}

/** The first position after `position`. */
export function positionAfter(position: Position): Position {
  const next = Buffer.alloc(position.length + 1);
  next.set(position);
  return next;
}

/** The exclusive upper bound of the positions that begin with `prefix`. */
export function endOfPrefix(prefix: Position): UpperBound {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  if (length === 0) return undefined;
  const end = Buffer.from(prefix.subarray(0, length));
  end[length - 1] = end[length - 1]! + 1;
  return end;
}

/** The group of a key: its bytes up to and including the first `groupBy`, or all of them. */
export function groupOf(key: Uint8Array, groupBy: string | undefined): Uint8Array {
  const at = groupBy === undefined ? -1 : key.indexOf(groupBy.charCodeAt(0));
  return at < 0 ? key : key.subarray(0, at + 1);
}
