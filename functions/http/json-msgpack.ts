// JSON to MessagePack and back: exactly, or refused. No number is rounded, no member is lost.
import { PATH_CHARS_MAX, pathStep } from '../../shared/store/table/check-value.ts';
import { ByteWriter } from './byte-writer.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, JsonReader, OPEN_ARRAY, OPEN_OBJECT } from './json-reader.ts';
import { encodeMsgpack, msgpackHead, MsgpackReader } from './msgpack.ts';
import { Problem } from './problem.ts';

/** The bytes written so far, and the steps to the value that comes next. */
class Written {
  readonly out = new ByteWriter();
  readonly path: PropertyKey[] = [];

  /** The value holds something that its other form cannot express. */
  refuse(what: string): never {
    const place = this.path.map(pathStep).join('').slice(0, PATH_CHARS_MAX);
    throw new Problem('not_acceptable', `the value holds ${what}${place === '' ? '' : `, at value${place}`}`);
  }
}

/** Takes well-formed MessagePack of at most 100 levels. Throws a Problem for what JSON has not. */
export function jsonFromMsgpack(bytes: Uint8Array): Uint8Array {
  const written = new Written();
  writeJson(new MsgpackReader(bytes), written);
  return written.out.bytes;
}

function writeJson(reader: MsgpackReader, to: Written): void {
  const kind = reader.next();
  if (kind === 'array') return writeItems(reader, to);
  if (kind === 'map') return writeMembers(reader, to);
  if (kind === 'binary') to.refuse('binary data');
  if (kind === 'timestamp') to.refuse('a timestamp');
  const value = reader.decoded();
  if (kind === 'float') to.out.text(floatText(value as number, to));
  else to.out.text(typeof value === 'bigint' ? value.toString() : JSON.stringify(value));
}

function writeItems(reader: MsgpackReader, to: Written): void {
  const { count } = reader;
  to.out.byte(OPEN_ARRAY);
  for (let i = 0; i < count; i += 1) {
    if (i > 0) to.out.byte(COMMA);
    to.path.push(i);
    writeJson(reader, to);
    to.path.pop();
  }
  to.out.byte(CLOSE_ARRAY);
}

function writeMembers(reader: MsgpackReader, to: Written): void {
  const { count } = reader;
  const names = new Set<string>();
  to.out.byte(OPEN_OBJECT);
  for (let i = 0; i < count; i += 2) {
    if (reader.next() !== 'string') to.refuse('a map with a key that is no string');
    const name = reader.decoded() as string;
    to.path.push(name);
    if (names.has(name)) to.refuse('a map with a key that stands twice');
    names.add(name);
    if (i > 0) to.out.byte(COMMA);
    to.out.text(JSON.stringify(name));
    to.out.byte(COLON);
    writeJson(reader, to);
    to.path.pop();
  }
  to.out.byte(CLOSE_OBJECT);
}

/** Shows that it is a float, so that it comes back as one. */
function floatText(value: number, to: Written): string {
  if (!Number.isFinite(value)) to.refuse('NaN or an infinity');
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** JSON that parses, of at most 100 levels. Throws a Problem for what MessagePack has not. */
export function msgpackFromJson(bytes: Uint8Array): Uint8Array {
  const written = new Written();
  writeMsgpack(new JsonReader(bytes), written);
  return written.out.bytes;
}

/** A head counts the values that follow, so it is written when these are known. */
function writeMsgpack(reader: JsonReader, to: Written): void {
  const { kind } = reader;
  if (kind === 'array') writePackedItems(reader, to);
  else if (kind === 'map') writePackedMembers(reader, to);
  else if (kind === 'string') writePackedText(reader.scalar() as string, to);
  else writeScalar(reader.value().toString(), to);
}

function writePackedItems(reader: JsonReader, to: Written): void {
  const start = to.out.size;
  let count = 0;
  reader.items(() => {
    to.path.push(count);
    count += 1;
    writeMsgpack(reader, to);
    to.path.pop();
  });
  to.out.insert(start, msgpackHead('array', count));
}

function writePackedMembers(reader: JsonReader, to: Written): void {
  const start = to.out.size;
  const names = new Set<string>();
  reader.members((name) => {
    to.path.push(name);
    if (names.has(name)) to.refuse('an object with a name that stands twice');
    names.add(name);
    writePackedText(name, to);
    writeMsgpack(reader, to);
    to.path.pop();
  });
  to.out.insert(start, msgpackHead('map', names.size));
}

function writePackedText(text: string, to: Written): void {
  if (!text.isWellFormed()) to.refuse('a string with half a surrogate pair');
  to.out.write(encodeMsgpack(text));
}

function writeScalar(source: string, to: Written): void {
  if (/^\d$/.test(source)) to.out.byte(Number(source));
  else to.out.write(/^[-\d]/.test(source) ? numberBytes(source, to) : encodeMsgpack(JSON.parse(source)));
}

const INT64_MIN = -(2n ** 63n);
const UINT64_MAX = 2n ** 64n - 1n;
/** No 64-bit integer is longer. */
const INTEGER_CHARS_MAX = 20;

/** Integers of up to 64 bits stay so; others become a double if it reads as the same decimal. */
function numberBytes(source: string, to: Written): Uint8Array {
  const double = Number(source);
  if (/^-?\d+$/.test(source) && source !== '-0') {
    if ((double | 0) === double) return encodeMsgpack(double);
    // As a bigint, for the encoder would make a double of it.
    const integer = source.length <= INTEGER_CHARS_MAX ? BigInt(source) : undefined;
    if (integer !== undefined && integer >= INT64_MIN && integer <= UINT64_MAX) return encodeMsgpack(integer);
  }
  if (!Number.isFinite(double) || decimalOf(String(double)) !== decimalOf(source))
    to.refuse('a number that MessagePack would round');
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
