// Converts JSON to MessagePack and back, or refuses if a number would be rounded or a member lost.
import { PATH_CHARS_MAX, pathStep } from '../../shared/store/table/encode-value.ts';
import { decimalOf } from './json-text.ts';
import { JsonReader } from './json-reader.ts';
import { encodeMsgpack, msgpackHead, MsgpackReader } from './msgpack-content.ts';
import { Problem } from './problem.ts';
import type { ValueReader } from './body-reader.ts';

/** The message tells what the value holds that its other form cannot express. */
class NotCarried extends Error {}

/** Writes one form, in which `Part` is a value. Throws NotCarried for what it cannot express. */
interface Form<Reader, Part> {
  /** Names a map with equal keys, in the words of the form that is read. */
  readonly twice: string;
  array(items: readonly Part[]): Part;
  map(members: readonly (readonly [name: Part, value: Part])[]): Part;
  text(text: string): Part;
  scalar(reader: Reader): Part;
}

/** Takes valid MessagePack of at most 100 levels. Throws a Problem for what JSON lacks. */
export function jsonFromMsgpack(bytes: Uint8Array): Uint8Array {
  return Buffer.from(rewritten(new MsgpackReader(bytes), JSON_FORM));
}

/** Takes valid JSON of at most 100 levels. Throws a Problem for what MessagePack lacks. */
export function msgpackFromJson(bytes: Uint8Array): Uint8Array {
  return rewritten(new JsonReader(bytes), MSGPACK_FORM);
}

/** The value in the other form, or a Problem with the place of what cannot be expressed. */
function rewritten<Reader extends ValueReader, Part>(reader: Reader, form: Form<Reader, Part>): Part {
  const path: PropertyKey[] = [];
  try {
    return partOf(reader, form, path);
  } catch (error) {
    if (!(error instanceof NotCarried)) throw error;
    const place = path.map(pathStep).join('').slice(0, PATH_CHARS_MAX);
    throw new Problem('not_acceptable', `the value holds ${error.message}${place === '' ? '' : `, at value${place}`}`);
  }
}

/** The next value. `path` is its place, also when this throws. */
function partOf<Reader extends ValueReader, Part>(reader: Reader, form: Form<Reader, Part>, path: PropertyKey[]): Part {
  const { kind } = reader;
  if (kind === 'string') return form.text(reader.scalar() as string);
  if (kind === 'scalar') return form.scalar(reader);
  if (kind === 'array') {
    const items: Part[] = [];
    reader.items(() => {
      path.push(items.length);
      items.push(partOf(reader, form, path));
      path.pop();
    });
    return form.array(items);
  }
  const members = new Map<string, readonly [Part, Part]>();
  reader.members((name) => {
    if (name === undefined) throw new NotCarried('a map with a key that is no string');
    path.push(name);
    if (members.has(name)) throw new NotCarried(form.twice);
    members.set(name, [form.text(name), partOf(reader, form, path)]);
    path.pop();
  });
  return form.map([...members.values()]);
}

const JSON_FORM: Form<MsgpackReader, string> = {
  twice: 'a map with a key that stands twice',
  array: (items) => `[${items.join(',')}]`,
  map: (members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`,
  text: (text) => JSON.stringify(text),
  scalar: scalarText,
};

const MSGPACK_FORM: Form<JsonReader, Uint8Array> = {
  twice: 'an object with a name that stands twice',
  // A head has the number of values that follow, so it is written when these are known.
  array: (items) => Buffer.concat([msgpackHead('array', items.length), ...items]),
  map: (members) => Buffer.concat([msgpackHead('map', members.length), ...members.flat()]),
  text: stringBytes,
  scalar: (reader) => scalarBytes(reader.value().toString()),
};

function scalarText(reader: MsgpackReader): string {
  const kind = reader.next();
  if (kind === 'binary') throw new NotCarried('binary data');
  if (kind === 'timestamp') throw new NotCarried('a timestamp');
  const value = reader.decoded();
  return kind === 'float' ? floatText(value as number) : String(value);
}

/** Writes a float so that it is read back as a float. */
function floatText(value: number): string {
  if (!Number.isFinite(value)) throw new NotCarried('NaN or an infinity');
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

function stringBytes(text: string): Uint8Array {
  if (!text.isWellFormed()) throw new NotCarried('a string with half a surrogate pair');
  return encodeMsgpack(text);
}

function scalarBytes(source: string): Uint8Array {
  return /^[-\d]/.test(source) ? numberBytes(source) : encodeMsgpack(JSON.parse(source));
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
  if (!Number.isFinite(double) || decimalOf(String(double)) !== decimalOf(source))
    throw new NotCarried('a number that MessagePack would round');
  const bytes = Buffer.alloc(9, 0xcb);
  bytes.writeDoubleBE(double, 1);
  return bytes;
}
