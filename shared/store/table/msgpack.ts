// Writes MessagePack (FORMAT.md, "Values in MessagePack"): msgpackr loses -0, Maps and Sets.
import { Packr } from 'msgpackr';

/** Each value is readable alone, without shared structures. No Buffer aliases a cached page. */
export const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false });

// The packer leaves 2 KiB of each block of its memory unused: a quarter of one of its own size.
packr.useBuffer(Buffer.allocUnsafeSlow(32 * 1024));

const MAP_32 = 0xdf;
const ARRAY_32 = 0xdd;
const NIL = Uint8Array.of(0xc0);
const NEGATIVE_ZERO = Uint8Array.of(0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
/** The first key of a map that stands for a Map or a Set. Its value says which. */
const KIND = Uint8Array.of(0xc4, 0);

/** `isPlain`: as `checkValue` says. */
export function packValue(value: unknown, isPlain: boolean): Uint8Array {
  // A view of the packer's buffer, which the packer never writes again.
  if (isPlain) return packr.pack(value);
  const pieces: Uint8Array[] = [];
  write(value, pieces);
  return Buffer.concat(pieces);
}

function write(value: unknown, pieces: Uint8Array[]): void {
  if (Array.isArray(value)) {
    pieces.push(head(ARRAY_32, value.length));
    for (const item of value) write(item, pieces);
  } else if (value instanceof Map) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Map'));
    writePairs(value, pieces);
  } else if (value instanceof Set) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Set'));
    for (const member of value) {
      write(member, pieces);
      pieces.push(NIL);
    }
  } else if (isPlainObject(value)) {
    const pairs = Object.entries(value);
    pieces.push(head(MAP_32, pairs.length));
    writePairs(pairs, pieces);
  } else {
    pieces.push(Object.is(value, -0) ? NEGATIVE_ZERO : packr.pack(value));
  }
}

function writePairs(pairs: Iterable<readonly [unknown, unknown]>, pieces: Uint8Array[]): void {
  for (const [key, value] of pairs) {
    write(key, pieces);
    write(value, pieces);
  }
}

function head(token: number, count: number): Uint8Array {
  const bytes = Buffer.alloc(5, token);
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
