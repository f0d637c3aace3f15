// Serializers behind one interface: a dictionary to bytes and back.
import { inspect } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { dump, load } from 'js-yaml';
import { Packr } from 'msgpackr';
import Papa from 'papaparse';

export type Dictionary = Readonly<Record<string, unknown>>;

export interface Codec {
  /** The format, and the package that writes it unless it is the runtime. */
  readonly name: string;
  encode(value: Dictionary): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

function packed(name: string, options: ConstructorParameters<typeof Packr>[0]): Codec {
  const packr = new Packr({ useRecords: false, moreTypes: true, copyBuffers: true, ...options });
  return { name, encode: (value) => packr.pack(value), decode: (bytes) => packr.unpack(bytes) as unknown };
}

function text(name: string, write: (value: Dictionary) => string, read: (text: string) => unknown): Codec {
  return { name, encode: (value) => Buffer.from(write(value)), decode: (bytes) => read(Buffer.from(bytes).toString()) };
}

/** With the options that the store sets. */
export const MSGPACK = packed('msgpack (msgpackr)', { useToJSON: false });

/** Like Python's pickle it keeps which objects are one and the same. */
export const MSGPACK_REFERENCES = packed('msgpack, references (msgpackr)', { structuredClone: true });

/** The runtime's own binary format, as marshal is Python's. */
export const V8: Codec = { name: 'v8.serialize', encode: serialize, decode: deserialize };

export const JSON_TEXT = text('JSON', JSON.stringify, JSON.parse);

export const YAML = text('YAML (js-yaml)', dump, load);

const WHOLE = { depth: null, maxArrayLength: null, maxStringLength: null } as const;

/** Runs text that was written here a moment ago; never use it for text from elsewhere. */
const evaluated = (source: string): unknown => runInThisContext(`(${source})`) as unknown;

/** The runtime's own text form in one line, like Python's repr. */
export const INSPECT = text(
  'util.inspect',
  (value) => inspect(value, { ...WHOLE, breakLength: Infinity, compact: true }),
  evaluated,
);

/** Sorted, with a line per entry, like Python's pprint. */
export const INSPECT_LINES = text(
  'util.inspect, sorted, in lines',
  (value) => inspect(value, { ...WHOLE, breakLength: 80, compact: false, sorted: true }),
  evaluated,
);

/** A line per row, its key in front; the first line names the columns. Types are guessed. */
export const CSV = text('CSV (papaparse)', csvOf, (csv) => {
  const [[, ...names] = [], ...lines] = Papa.parse<unknown[]>(csv, { dynamicTyping: true }).data;
  const rowOf = (cells: unknown[]): Dictionary => Object.fromEntries(names.map((name, at) => [name, cells[at]]));
  return Object.fromEntries(lines.map(([key, ...cells]) => [key, rowOf(cells)]));
});

function csvOf(value: Dictionary): string {
  const rows = Object.entries(value).map(([key, row]) => [key, row as Dictionary] as const);
  const names = Object.keys(rows[0]?.[1] ?? {});
  return Papa.unparse([['', ...names], ...rows.map(([key, row]) => [key, ...names.map((name) => row[name])])]);
}
