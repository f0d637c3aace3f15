// JSON to MessagePack and back: exactly, or refused. No number is rounded, no member is lost.
import { PATH_CHARS_MAX, pathStep } from '../../shared/store/table/check-value.ts';
import { ByteWriter } from './byte-writer.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, JsonReader, OPEN_ARRAY, OPEN_OBJECT } from './json-reader.ts';
import { encodeMsgpack, msgpackHead, MsgpackReader } from './msgpack.ts';
import { Problem } from './problem.ts';

/** The value holds something that its other form cannot express. */
class NotCarried extends Problem {
  readonly #what: string;
  readonly #path: string;

  constructor(what: string, path = '') {
    super('not_acceptable', `the value holds ${what}${path === '' ? '' : `, at value${path}`}`);
    this.#what = what;
    this.#path = path;
  }

  /** The same, seen from the object that holds it. */
  below(step: PropertyKey): NotCarried {
    return new NotCarried(this.#what, (pathStep(step) + this.#path).slice(0, PATH_CHARS_MAX));
  }
}

/** An error as the object's reader throws it on. `step`: the item or member that was read. */
function thrownBelow(step: PropertyKey | undefined, error: unknown): unknown {
  return error instanceof NotCarried && step !== undefined ? error.below(step) : error;
}

/** Takes well-formed MessagePack of at most 100 levels. Throws a Problem for what JSON has not. */
export function jsonFromMsgpack(bytes: Uint8Array): Uint8Array {
  const written = new ByteWriter();
  writeJson(new MsgpackReader(bytes), written);
  return written.bytes;
}

function writeJson(reader: MsgpackReader, out: ByteWriter): void {
  const kind = reader.next();
  if (kind === 'array') return writeItems(reader, out);
  if (kind === 'map') return writeMembers(reader, out);
  if (kind === 'binary') throw new NotCarried('binary data');
  if (kind === 'timestamp') throw new NotCarried('a timestamp');
  const value = reader.decoded();
  if (kind === 'float') out.text(floatText(value as number));
  else out.text(typeof value === 'bigint' ? value.toString() : JSON.stringify(value));
}

function writeItems(reader: MsgpackReader, out: ByteWriter): void {
  const { count } = reader;
  let i = 0;
  out.byte(OPEN_ARRAY);
  try {
    for (; i < count; i += 1) {
      if (i > 0) out.byte(COMMA);
      writeJson(reader, out);
    }
  } catch (error) {
    throw thrownBelow(i, error);
  }
  out.byte(CLOSE_ARRAY);
}

function writeMembers(reader: MsgpackReader, out: ByteWriter): void {
  const { count } = reader;
  const names = new Set<string>();
  let name: string | undefined;
  out.byte(OPEN_OBJECT);
  try {
    for (let i = 0; i < count; i += 2) {
      name = undefined;
      name = memberName(reader);
      if (names.has(name)) throw new NotCarried('a map with a key that stands twice');
      names.add(name);
      if (i > 0) out.byte(COMMA);
      out.text(JSON.stringify(name));
      out.byte(COLON);
      writeJson(reader, out);
    }
  } catch (error) {
    throw thrownBelow(name, error);
  }
  out.byte(CLOSE_OBJECT);
}

function memberName(reader: MsgpackReader): string {
  if (reader.next() !== 'string') throw new NotCarried('a map with a key that is no string');
  return reader.decoded() as string;
}

/** Shows that it is a float, so that it comes back as one. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) throw new NotCarried('NaN or an infinity');
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** JSON that parses, of at most 100 levels. Throws a Problem for what MessagePack has not. */
export function msgpackFromJson(bytes: Uint8Array): Uint8Array {
  const written = new ByteWriter();
  writeMsgpack(new JsonReader(bytes), written);
  return written.bytes;
}

/** A head counts the values that follow, so it is written when these are known. */
function writeMsgpack(reader: JsonReader, out: ByteWriter): void {
  const { kind } = reader;
  if (kind === 'array') writePackedItems(reader, out);
  else if (kind === 'map') writePackedMembers(reader, out);
  else if (kind === 'string') out.write(stringBytes(reader.scalar() as string));
  else writeScalar(reader.value().toString(), out);
}

function writePackedItems(reader: JsonReader, out: ByteWriter): void {
  const start = out.size;
  let count = 0;
  try {
    reader.items(() => {
      count += 1;
      writeMsgpack(reader, out);
    });
  } catch (error) {
    throw thrownBelow(count - 1, error);
  }
  out.insert(start, msgpackHead('array', count));
}

function writePackedMembers(reader: JsonReader, out: ByteWriter): void {
  const start = out.size;
  const names = new Set<string>();
  let last: string | undefined;
  try {
    reader.members((name) => {
      last = name;
      if (names.has(name)) throw new NotCarried('an object with a name that stands twice');
      names.add(name);
      out.write(stringBytes(name));
      writeMsgpack(reader, out);
    });
  } catch (error) {
    throw thrownBelow(last, error);
  }
  out.insert(start, msgpackHead('map', names.size));
}

function stringBytes(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new NotCarried('a string with half a surrogate pair');
  return encodeMsgpack(text);
}

function writeScalar(source: string, out: ByteWriter): void {
  if (/^\d$/.test(source)) out.byte(Number(source));
  else out.write(/^[-\d]/.test(source) ? numberBytes(source) : encodeMsgpack(JSON.parse(source)));
}

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** No 64-bit integer is longer. */
const INTEGER_CHARS_MAX = 20;

/** Integers of up to 64 bits stay so; others become a double if it reads as the same decimal. */
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
