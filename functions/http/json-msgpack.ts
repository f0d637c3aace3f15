// JSON as MessagePack, and MessagePack as JSON: exactly, or not at all. Integers stay integers and floats floats, none is rounded, no member
// is lost. What the other form cannot express is refused, never replaced.
import { OPEN_ARRAY, OPEN_OBJECT, partsOf, trimmed } from './json-source.ts';
import { encodeMsgpack, msgpackArray, msgpackMap, MsgpackReader } from './msgpack.ts';

/** The value holds something that its other form cannot express. */
export class NotCarried extends Error {
  constructor(what: string) {
    super(`the value holds ${what}`);
  }
}

/** Takes well-formed MessagePack of at most 100 levels. Throws NotCarried for what JSON has not. */
export function jsonFromMsgpack(bytes: Uint8Array): string {
  return jsonOf(new MsgpackReader(bytes));
}

function jsonOf(reader: MsgpackReader): string {
  const kind = reader.next();
  if (kind === 'array') return `[${Array.from({ length: reader.count }, () => jsonOf(reader)).join(',')}]`;
  if (kind === 'map') return `{${jsonMembers(reader, reader.count / 2)}}`;
  if (kind === 'binary') throw new NotCarried('binary data');
  if (kind === 'timestamp') throw new NotCarried('a timestamp');
  const value = reader.decoded();
  if (kind === 'float') return floatText(value as number);
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

function jsonMembers(reader: MsgpackReader, count: number): string {
  const names = new Set<unknown>();
  const members: string[] = [];
  for (let i = 0; i < count; i += 1) {
    if (reader.next() !== 'string') throw new NotCarried('a map with a key that is no string');
    const name = reader.decoded();
    if (names.has(name)) throw new NotCarried('a map with a key that stands twice');
    names.add(name);
    members.push(`${JSON.stringify(name)}:${jsonOf(reader)}`);
  }
  return members.join(',');
}

/** Shows that it is a float, so that it comes back as one. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) throw new NotCarried('NaN or an infinity');
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Takes JSON that parses, of at most 100 levels. Throws NotCarried for what MessagePack has not. */
export function msgpackFromJson(bytes: Uint8Array): Uint8Array {
  return msgpackOf(trimmed(bytes));
}

function msgpackOf(source: Uint8Array): Uint8Array {
  const [first] = source;
  if (first === OPEN_ARRAY) return msgpackArray(Array.from(partsOf(source), msgpackOf));
  if (first === OPEN_OBJECT) return msgpackMap(msgpackMembers(source));
  const text = asBuffer(source).toString();
  if (/^[-\d]/.test(text)) return numberBytes(text);
  const value: unknown = JSON.parse(text);
  return typeof value === 'string' ? stringBytes(value) : encodeMsgpack(value);
}

/** Names and values in turn. */
function msgpackMembers(source: Uint8Array): Uint8Array[] {
  const names = new Set<unknown>();
  return Array.from(partsOf(source), (part, index) => {
    if (index % 2 === 1) return msgpackOf(part);
    const name = JSON.parse(asBuffer(part).toString()) as string;
    if (names.has(name)) throw new NotCarried('an object with a name that stands twice');
    names.add(name);
    return stringBytes(name);
  });
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function stringBytes(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new NotCarried('a string with half a surrogate pair');
  return encodeMsgpack(text);
}

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** Of the 64-bit integers none is longer. */
const INTEGER_CHARS_MAX = 20;

/** What is written as an integer, up to 64 bits, becomes one; anything else a double, if that one reads as the same decimal. */
function numberBytes(source: string): Uint8Array {
  const double = Number(source);
  if (/^-?\d+$/.test(source) && source !== '-0') {
    if ((double | 0) === double) return encodeMsgpack(double);
    // As a bigint, for the encoder would make a double of it.
    const integer = source.length <= INTEGER_CHARS_MAX ? BigInt(source) : undefined;
    if (integer !== undefined && integer >= INT64_MIN && integer <= UINT64_MAX) return encodeMsgpack(integer);
  }
  if (!Number.isFinite(double) || decimalOf(String(double)) !== decimalOf(source)) {
    throw new NotCarried('a number that MessagePack would round');
  }
  const bytes = Buffer.alloc(9, 0xcb);
  bytes.writeDoubleBE(double, 1);
  return bytes;
}

/** A decimal number in one way of writing for all that are equal; the sign of zero left out. */
function decimalOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)!;
  const digits = (whole + fraction).replace(/^0+/, '');
  let length = digits.length;
  while (digits[length - 1] === '0') length -= 1;
  if (length === 0) return '0';
  return `${sign}${digits.slice(0, length)}e${Number(exponent) - fraction.length + digits.length - length}`;
}
