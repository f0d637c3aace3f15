// The tokens of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md). Bytes beyond
// the end count as zero, so the caller has to compare the end with the length.

/** By token: how many bytes of a length follow it. */
const LENGTH_BYTES = new Uint8Array(256);
/** By token: the bytes of a body of fixed size, including the type of an extension. */
const BODY_BYTES = new Uint8Array(256);
LENGTH_BYTES.set([1, 2, 4, 1, 2, 4], 0xc4);
LENGTH_BYTES.set([1, 2, 4, 2, 4, 2, 4], 0xd9);
BODY_BYTES.set([1, 1, 1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17], 0xc7);
for (let bytes = 0; bytes < 0x20; bytes += 1) BODY_BYTES[0xa0 + bytes] = bytes;

/** The type of the extension for a timestamp. */
const TIMESTAMP = 0xff;

export function isText(token: number): boolean {
  return token >= 0xa0 && token <= 0xdb && (token <= 0xbf || token >= 0xd9);
}

export function isMap(token: number): boolean {
  return token >= 0x80 && (token <= 0x8f || token === 0xde || token === 0xdf);
}

export function isArray(token: number): boolean {
  return token >= 0x90 && (token <= 0x9f || token === 0xdc || token === 0xdd);
}

export function isBinary(token: number): boolean {
  return token >= 0xc4 && token <= 0xc6;
}

export function isExtension(token: number): boolean {
  return token >= 0xc7 && token <= 0xd8 && (token <= 0xc9 || token >= 0xd4);
}

/** Where the content of the value at `at` begins: its text, items, bytes or extension type. */
export function startOf(bytes: Buffer, at: number): number {
  return at + 1 + LENGTH_BYTES[bytes[at]!]!;
}

/** The length of the value at `at`, in bytes, items or pairs. */
export function lengthAt(bytes: Buffer, at: number): number {
  const token = bytes[at]!;
  if (token < 0xc0) return token < 0x80 ? 0 : token >= 0xa0 ? token & 0x1f : token & 0x0f;
  const lengthBytes = LENGTH_BYTES[token]!;
  if (lengthBytes === 0) return 0;
  if (lengthBytes === 1) return bytes[at + 1]! | 0;
  if (lengthBytes === 2) return (bytes[at + 1]! << 8) | bytes[at + 2]!;
  return at + 4 < bytes.length ? bytes.readUInt32BE(at + 1) : 0;
}

/** Where the value at `at`, which is no array and no map, ends. */
export function endOfLeaf(bytes: Buffer, at: number): number {
  const token = bytes[at]!;
  const end = at + 1 + BODY_BYTES[token]!;
  return LENGTH_BYTES[token] === 0 ? end : end + LENGTH_BYTES[token]! + lengthAt(bytes, at);
}

/** Reads the bodies of the tokens 0xca to 0xd3. */
const NUMBERS: readonly ((bytes: Buffer, at: number) => number | bigint)[] = [
  (bytes, at) => bytes.readFloatBE(at),
  (bytes, at) => bytes.readDoubleBE(at),
  (bytes, at) => bytes.readUInt8(at),
  (bytes, at) => bytes.readUInt16BE(at),
  (bytes, at) => bytes.readUInt32BE(at),
  (bytes, at) => bytes.readBigUInt64BE(at),
  (bytes, at) => bytes.readInt8(at),
  (bytes, at) => bytes.readInt16BE(at),
  (bytes, at) => bytes.readInt32BE(at),
  (bytes, at) => bytes.readBigInt64BE(at),
];

/** The number, truth value or null at `at`; undefined for any other token. */
export function plainAt(bytes: Buffer, at: number): number | bigint | boolean | null | undefined {
  const token = bytes[at]!;
  if (token < 0x80) return token;
  if (token >= 0xe0) return token - 0x100;
  if (token >= 0xca && token <= 0xd3) return NUMBERS[token - 0xca]!(bytes, at + 1);
  if (token === 0xc2 || token === 0xc3) return token === 0xc3;
  return token === 0xc0 ? null : undefined;
}

/** The Date at `at`, if stored by Timestamp 32 or 64: from 1970 to 2514. */
export function dateAt(bytes: Buffer, at: number): Date | undefined {
  const token = bytes[at]!;
  if (bytes[at + 1] !== TIMESTAMP || (token !== 0xd6 && token !== 0xd7)) return undefined;
  const first = bytes.readUInt32BE(at + 2);
  const isShort = token === 0xd6;
  const seconds = isShort ? first : (first & 3) * 2 ** 32 + bytes.readUInt32BE(at + 6);
  // oxlint-disable-next-line no-restricted-globals -- takes no time from it
  return new Date(seconds * 1_000 + (isShort ? 0 : (first >>> 2) / 1_000_000));
}

/** The UTF-8 text from `start` to `end`. */
export function textOf(bytes: Buffer, start: number, end: number): string {
  if (end - start > SHORT_TEXT_BYTES) return bytes.toString(undefined, start, end);
  let text = '';
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!;
    if (byte > 0x7f) return bytes.toString(undefined, start, end);
    text += String.fromCharCode(byte);
  }
  return text;
}

/** Longer texts are decoded faster by Buffer, whose decoder takes 70 ns to call. */
const SHORT_TEXT_BYTES = 12;
