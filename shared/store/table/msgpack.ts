// Writes MessagePack (FORMAT.md, "Values in MessagePack"). Most values go through msgpackr; but
// that loses -0, Maps and Sets, and takes dates and bytes of another realm for plain objects.
import { types } from 'node:util';
import { Packr } from 'msgpackr';

/** Without shared structures, so that each value can be read alone; bytes are copied out. */
export const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false });

// A larger block than the packer's own 8 KiB, as it leaves 2 KiB of each unused.
packr.useBuffer(Buffer.allocUnsafeSlow(32 * 1024));

const BIN_32 = 0xc6;
const EXTENSION_32 = 0xc9;
const MAP_32 = 0xdf;
const ARRAY_32 = 0xdd;
const NIL = Uint8Array.of(0xc0);
const NEGATIVE_ZERO = Uint8Array.of(0xcb, 0x80, 0, 0, 0, 0, 0, 0, 0);
/** The first key of a map that stands for a Map or a Set; its value tells which. */
const KIND = Uint8Array.of(0xc4, 0);

/** The extension for bytes that are no Buffer, and each class's number in it. */
const BINARY = 0x74;
const INTEGERS = 'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array';
const WIDE = 'Float32Array Float64Array BigInt64Array BigUint64Array';
const BINARY_CLASSES = `${INTEGERS} ${WIDE} - - - - - ArrayBuffer DataView`.split(' ');

// oxlint-disable-next-line no-restricted-globals -- takes no time from it
const CLASSES = [Date, ArrayBuffer, Object.getPrototypeOf(Uint8Array) as typeof Uint8Array, DataView];

/** Whether msgpackr recognises a date or bytes, as it does unless they are of another realm. */
export function isKnownToPackr(value: object): boolean {
  return CLASSES.some((known) => value instanceof known);
}

/** `isPlain`: whether msgpackr may write the value, as `checkValue` says. */
export function packValue(value: unknown, isPlain: boolean): Uint8Array {
  // The result is a view of the packer's buffer, which the packer does not overwrite.
  if (isPlain) return packr.pack(value);
  const pieces: Uint8Array[] = [];
  write(value, pieces);
  return Buffer.concat(pieces);
}

function write(value: unknown, pieces: Uint8Array[]): void {
  if (typeof value !== 'object' || value === null) {
    pieces.push(Object.is(value, -0) ? NEGATIVE_ZERO : packr.pack(value));
  } else if (Array.isArray(value)) {
    pieces.push(head(ARRAY_32, value.length));
    for (const item of value) write(item, pieces);
  } else if (types.isMap(value)) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Map'));
    writePairs(value, pieces);
  } else if (types.isSet(value)) {
    pieces.push(head(MAP_32, value.size + 1), KIND, packr.pack('Set'));
    for (const member of value) {
      write(member, pieces);
      pieces.push(NIL);
    }
  } else if (Buffer.isBuffer(value)) {
    pieces.push(head(BIN_32, value.length), value);
  } else if (ArrayBuffer.isView(value) || types.isArrayBuffer(value)) {
    const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(value) ? value : new Uint8Array(value);
    const number = BINARY_CLASSES.indexOf(Object.prototype.toString.call(value).slice('[object '.length, -1));
    pieces.push(head(EXTENSION_32, byteLength + 1), Uint8Array.of(BINARY, number));
    pieces.push(new Uint8Array(buffer, byteOffset, byteLength));
  } else if (types.isDate(value)) {
    // oxlint-disable-next-line no-restricted-globals -- takes no time from it
    pieces.push(packr.pack(new Date(value)));
  } else {
    const pairs = Object.entries(value);
    pieces.push(head(MAP_32, pairs.length));
    writePairs(pairs, pieces);
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
