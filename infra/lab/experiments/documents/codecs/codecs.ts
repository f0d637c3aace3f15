// The formats of documents A and D as one interface: a dictionary to bytes and back. A format of
// another shape is charged for the conversion.
import { inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { runInThisContext } from 'node:vm';
import * as bson from 'bson';
import { Encoder } from 'cbor-x';
import * as jsYaml from 'js-yaml';
import { Packr } from 'msgpackr';
import * as yaml from 'yaml';

export type Dictionary = Readonly<Record<string, unknown>>;

export interface Codec {
  /** Unique; the id of its rows. */
  readonly id: string;
  readonly name: string;
  /** The package, or the runtime. */
  readonly library: string;
  encode(value: Dictionary): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

type Names = Pick<Codec, 'id' | 'name' | 'library'>;

function codec(names: Names, encode: Codec['encode'], decode: Codec['decode']): Codec {
  return { ...names, encode, decode };
}

function packed(id: string, name: string, packr: Packr): Codec {
  return codec(
    { id, name, library: 'msgpackr' },
    (value) => packr.pack(value),
    (bytes) => packr.unpack(bytes) as unknown,
  );
}

/** A format of text, as UTF-8. */
export function textCodec(names: Names, write: (value: Dictionary) => string, read: (text: string) => unknown): Codec {
  return codec(
    names,
    (value) => Buffer.from(write(value)),
    (bytes) => read(textOf(bytes)),
  );
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** As the store sets it up. */
export const MSGPACK = packed(
  'msgpack',
  'msgpack',
  new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false }),
);

/** The closest to Python's pickle: it keeps which objects are one and the same. */
export const MSGPACK_REFERENCES = packed(
  'msgpack-references',
  'msgpack, references kept',
  new Packr({ useRecords: false, moreTypes: true, structuredClone: true, copyBuffers: true }),
);

/**
 * Property names are written once, into a list beside the bytes. The dictionary goes as a Map: an
 * object would become one structure of all its keys.
 */
export function sharedStructures(): Codec {
  const packr = new Packr({ structures: [], moreTypes: true, copyBuffers: true, useToJSON: false });
  return codec(
    { id: 'msgpack-shared', name: 'msgpack, shared structures', library: 'msgpackr' },
    (value) => packr.pack(new Map(Object.entries(value))),
    (bytes) => Object.fromEntries(packr.unpack(bytes) as Map<string, unknown>),
  );
}

export const JSON_TEXT = textCodec({ id: 'json', name: 'JSON', library: 'Node.js' }, JSON.stringify, JSON.parse);

/** The closest to Python's marshal: the runtime's own format, in its own language. */
export const V8 = codec({ id: 'v8', name: 'v8 serialize', library: 'Node.js' }, serialize, deserialize);

const cbor = new Encoder({ useRecords: false, copyBuffers: true });

export const CBOR = codec(
  { id: 'cbor', name: 'CBOR', library: 'cbor-x' },
  (value) => cbor.encode(value),
  (bytes) => cbor.decode(bytes) as unknown,
);

export const BSON = codec(
  { id: 'bson', name: 'BSON', library: 'bson' },
  (value) => bson.serialize(value),
  (bytes) => bson.deserialize(bytes),
);

export const YAML = textCodec(
  { id: 'yaml', name: 'YAML', library: 'yaml' },
  (value) => yaml.stringify(value),
  (text) => yaml.parse(text) as unknown,
);

export const JS_YAML = textCodec({ id: 'js-yaml', name: 'YAML', library: 'js-yaml' }, jsYaml.dump, jsYaml.load);

const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** The runtime's own text form in one line, like Python's repr; read back as source code. */
export const INSPECT = textCodec(
  { id: 'inspect', name: 'util.inspect', library: 'Node.js' },
  (value) => inspect(value, { ...WHOLE, breakLength: Infinity, compact: true }),
  evaluated,
);

/** Sorted, a line an entry, like pprint. */
export const INSPECT_LINES = textCodec(
  { id: 'inspect-lines', name: 'util.inspect, sorted, in lines', library: 'Node.js' },
  (value) => inspect(value, { ...WHOLE, breakLength: 80, compact: false, sorted: true }),
  evaluated,
);

/** Runs what was written here a moment ago: never for text from elsewhere. */
function evaluated(text: string): unknown {
  return runInThisContext(`(${text})`) as unknown;
}

export function labelOf({ name, library }: Codec): string {
  return `${name} (${library})`;
}
