// Texts in UTF-8 may begin with a byte order mark (RFC 8259, 8.1: a parser may skip it).
const MARK = [0xef, 0xbb, 0xbf];

/** The bytes behind a mark. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}
