// MessagePack as it comes from outside: checked whole before it is stored, as msgpackr reads leniently (0xc1, records and other
// extensions of its own, broken UTF-8). What passes here reads the same in every decoder. Timestamps are the one extension carried.
import { Packr } from 'msgpackr';
import { Problem } from './problem.ts';

/** Deep enough for any document, shallow enough for every recursive decoder. */
const DEPTH_MAX = 128;
const TIMESTAMP = 0xff;
const TIMESTAMP_SIZES: ReadonlySet<number> = new Set([4, 8, 12]);

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Maps stay Maps, so that no key is renamed or reordered; 64-bit integers become bigints, so that none is rounded. */
const packr = new Packr({ useRecords: false, mapsAsObjects: false });

/** Decodes one value that fills the bytes exactly, or throws the Problem `malformed`. */
export function decodeMsgpack(bytes: Uint8Array): unknown {
  assertMsgpack(bytes);
  return packr.unpack(bytes);
}

/** Encodes plain values, Maps, bytes and Dates. */
export function encodeMsgpack(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Throws the Problem `malformed` unless the bytes are exactly one well-formed value. */
export function assertMsgpack(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = checkValue(bytes, view, 0, 0);
  if (end !== bytes.length) throw malformed('bytes follow the value', end);
}

/** Checks the value that begins at this offset, and gives the offset behind it. */
function checkValue(bytes: Uint8Array, view: DataView, at: number, depth: number): number {
  if (at >= bytes.length) throw malformed('the value ends too early', at);
  if (depth > DEPTH_MAX) throw malformed(`nested deeper than ${DEPTH_MAX}`, at);
  const token = bytes[at]!;
  const body = at + 1;
  if (token <= 0x7f || token >= 0xe0) return body;
  if (token <= 0x8f) return checkItems(bytes, view, body, (token & 0x0f) * 2, depth);
  if (token <= 0x9f) return checkItems(bytes, view, body, token & 0x0f, depth);
  if (token <= 0xbf) return checkString(bytes, body, token & 0x1f);
  if (token >= 0xca && token <= 0xd3) return skip(bytes, body, SCALAR_BYTES[token - 0xca]!);
  if (token >= 0xd4 && token <= 0xd8) return checkExtension(bytes, body, 1 << (token - 0xd4));
  return checkSized(bytes, view, token, body, depth);
}

/** float 32 and 64, then uint 8 to 64, then int 8 to 64. */
const SCALAR_BYTES = [4, 8, 1, 2, 4, 8, 1, 2, 4, 8] as const;

/** The tokens that carry a size of their own, and those without a body. */
function checkSized(bytes: Uint8Array, view: DataView, token: number, body: number, depth: number): number {
  const sized = (sizeBytes: number): [size: number, next: number] => {
    const next = skip(bytes, body, sizeBytes);
    return [
      sizeBytes === 1 ? view.getUint8(body) : sizeBytes === 2 ? view.getUint16(body) : view.getUint32(body),
      next,
    ];
  };
  const widthFrom = (first: number): number => 1 << (token - first);
  if (token === 0xc0 || token === 0xc2 || token === 0xc3) return body;
  if (token === 0xc1) throw malformed('the byte c1 is never used', body - 1);
  if (token <= 0xc6) {
    const [size, next] = sized(widthFrom(0xc4));
    return skip(bytes, next, size);
  }
  if (token <= 0xc9) {
    const [size, next] = sized(widthFrom(0xc7));
    return checkExtension(bytes, next, size);
  }
  if (token <= 0xdb) {
    const [size, next] = sized(widthFrom(0xd9));
    return checkString(bytes, next, size);
  }
  const [count, next] = sized(token % 2 === 0 ? 2 : 4);
  return checkItems(bytes, view, next, token <= 0xdd ? count : count * 2, depth);
}

function checkItems(bytes: Uint8Array, view: DataView, at: number, count: number, depth: number): number {
  let next = at;
  for (let i = 0; i < count; i += 1) next = checkValue(bytes, view, next, depth + 1);
  return next;
}

function checkString(bytes: Uint8Array, at: number, size: number): number {
  const end = skip(bytes, at, size);
  try {
    UTF8.decode(bytes.subarray(at, end));
  } catch {
    throw malformed('a string is not UTF-8', at);
  }
  return end;
}

function checkExtension(bytes: Uint8Array, at: number, size: number): number {
  const end = skip(bytes, at, 1 + size);
  if (bytes[at] !== TIMESTAMP || !TIMESTAMP_SIZES.has(size)) {
    throw malformed('extension types other than the timestamp (-1) are not carried', at);
  }
  return end;
}

function skip(bytes: Uint8Array, at: number, size: number): number {
  if (at + size > bytes.length) throw malformed('the value ends too early', at);
  return at + size;
}

function malformed(what: string, at: number): Problem {
  return new Problem('malformed', `not MessagePack: ${what}, at byte ${at}`);
}
