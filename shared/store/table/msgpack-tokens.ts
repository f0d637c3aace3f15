// The tokens of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md): what begins at an offset, and where it ends. What lies
// beyond the bytes counts as zero; whoever decodes notices.

/** For each token the bytes of the length behind it, and of a body whose size the token says, an extension's type included. */
const LENGTH_BYTES = new Uint8Array(256);
const BODY_BYTES = new Uint8Array(256);
LENGTH_BYTES.set([1, 2, 4, 1, 2, 4], 0xc4);
LENGTH_BYTES.set([1, 2, 4, 2, 4, 2, 4], 0xd9);
BODY_BYTES.set([1, 1, 1, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17], 0xc7);

export function isText(token: number): boolean {
  return token >= 0xa0 && token <= 0xdb && (token <= 0xbf || token >= 0xd9);
}

export function isMap(token: number): boolean {
  return token >= 0x80 && (token <= 0x8f || token === 0xde || token === 0xdf);
}

export function isArray(token: number): boolean {
  return token >= 0x90 && (token <= 0x9f || token === 0xdc || token === 0xdd);
}

export function isExtension(token: number): boolean {
  return token >= 0xc7 && token <= 0xd8 && (token <= 0xc9 || token >= 0xd4);
}

/** The type of the extension at `at`. */
export function extensionType(bytes: Buffer, at: number): number {
  return bytes[startOf(bytes, at)]!;
}

/** Where the text, the items or the bytes of the value at `at` begin. */
export function startOf(bytes: Buffer, at: number): number {
  return at + 1 + LENGTH_BYTES[bytes[at]!]!;
}

/** How many bytes of text, items, pairs or bytes the value at `at` has. */
export function lengthAt(bytes: Buffer, at: number): number {
  const token = bytes[at]!;
  if (token < 0xc0) return token < 0x80 ? 0 : token >= 0xa0 ? token & 0x1f : token & 0x0f;
  const lengthBytes = LENGTH_BYTES[token]!;
  if (lengthBytes === 0) return 0;
  if (lengthBytes === 1) return bytes[at + 1]! | 0;
  if (lengthBytes === 2) return (bytes[at + 1]! << 8) | bytes[at + 2]!;
  return at + 4 < bytes.length ? bytes.readUInt32BE(at + 1) : 0;
}

/** The offset behind the value at `at`, which has no items of its own. */
export function endOfLeaf(bytes: Buffer, at: number): number {
  const token = bytes[at]!;
  if (token < 0x80 || token >= 0xe0) return at + 1;
  return startOf(bytes, at) + lengthAt(bytes, at) + BODY_BYTES[token]!;
}
