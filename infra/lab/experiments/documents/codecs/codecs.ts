// The formats of documents A and D as one interface: a dictionary to bytes and back. A format of
// another shape is charged for the conversion.
import { deserialize, serialize } from 'node:v8';
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

/** As the store sets it up. */
const plainPackr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, useToJSON: false });

export const MSGPACK: Codec = {
  id: 'msgpack',
  name: 'msgpack',
  library: 'msgpackr',
  encode: (value) => plainPackr.pack(value),
  decode: (bytes) => plainPackr.unpack(bytes) as unknown,
};

/**
 * Property names are written once, into a list beside the bytes. The dictionary goes as a Map: an
 * object would become one structure of all its keys.
 */
export function sharedStructures(): Codec {
  const packr = new Packr({ structures: [], moreTypes: true, copyBuffers: true, useToJSON: false });
  return {
    id: 'msgpack-shared',
    name: 'msgpack, shared structures',
    library: 'msgpackr',
    encode: (value) => packr.pack(new Map(Object.entries(value))),
    decode: (bytes) => Object.fromEntries(packr.unpack(bytes) as Map<string, unknown>),
  };
}

const referencingPackr = new Packr({ useRecords: false, moreTypes: true, structuredClone: true, copyBuffers: true });

/**
 * The closest to Python's pickle: a library in the language itself that keeps which objects are one
 * and the same.
 */
export const MSGPACK_REFERENCES: Codec = {
  id: 'msgpack-references',
  name: 'msgpack, references kept',
  library: 'msgpackr',
  encode: (value) => referencingPackr.pack(value),
  decode: (bytes) => referencingPackr.unpack(bytes) as unknown,
};

export const JSON_TEXT: Codec = {
  id: 'json',
  name: 'JSON',
  library: 'Node.js',
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) => JSON.parse(textOf(bytes)) as unknown,
};

/** The closest to Python's marshal: the runtime's own format, in its own language. */
export const V8: Codec = {
  id: 'v8',
  name: 'v8 serialize',
  library: 'Node.js',
  encode: serialize,
  decode: deserialize,
};

const cbor = new Encoder({ useRecords: false, copyBuffers: true });

export const CBOR: Codec = {
  id: 'cbor',
  name: 'CBOR',
  library: 'cbor-x',
  encode: (value) => cbor.encode(value),
  decode: (bytes) => cbor.decode(bytes) as unknown,
};

export const BSON: Codec = {
  id: 'bson',
  name: 'BSON',
  library: 'bson',
  encode: (value) => bson.serialize(value),
  decode: (bytes) => bson.deserialize(bytes),
};

export const YAML: Codec = {
  id: 'yaml',
  name: 'YAML',
  library: 'yaml',
  encode: (value) => Buffer.from(yaml.stringify(value)),
  decode: (bytes) => yaml.parse(textOf(bytes)) as unknown,
};

export const JS_YAML: Codec = {
  id: 'js-yaml',
  name: 'YAML',
  library: 'js-yaml',
  encode: (value) => Buffer.from(jsYaml.dump(value)),
  decode: (bytes) => jsYaml.load(textOf(bytes)),
};

/** The name with what does it. */
export function labelOf({ name, library }: Codec): string {
  return `${name} (${library})`;
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
