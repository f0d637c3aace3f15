// Two documents that measured serializers: their values, made again, and their printed figures.
import { recordSource } from '../../../shared/lab/work/sample-records.ts';
import * as codecs from './codecs.ts';
import type { Codec, Dictionary } from './codecs.ts';

/** A serializer of that time with its figures, today's counterpart, or both. */
export interface Row {
  readonly published?: {
    readonly name: string;
    readonly encode: number;
    readonly decode?: number;
    readonly bytes?: number;
  };
  readonly measured?: Codec;
}

export interface Question {
  readonly title: string;
  readonly source: string;
  readonly value: Dictionary;
  /** Unit of the printed times; null where the document does not say how many calls they took. */
  readonly unit: 'ms' | null;
  /** Ratios are to this row, by the times that the document printed. */
  readonly baseline: Row;
  readonly rows: readonly Row[];
}

const COLUMNS = { 0: 'Vorname', 1: 'Nachname', 2: 'Strasse', 3: 12_345, 4: 100.5, 5: null };

/** The document's loop made one row more than the 10,000 that it speaks of. */
export const SIX_COLUMNS: Dictionary = Object.fromEntries(
  Array.from({ length: 10_001 }, (_, key) => [String(key), { ...COLUMNS }]),
);

/** As the document made it: `{str(n): n for n in range(100)}`. */
const NUMBERS: Dictionary = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [String(n), n]));

const record = recordSource(1, 333);
const CONTAINER: Dictionary = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [record(index, 0).key, record(index, 0).fields]),
);

const PICKLE_VERSUS_MARSHAL =
  'Datastore Container: pickle versus marshal (in German), 2008: App Engine in production, Python 2.5';

const PICKLE: Row = { published: { name: 'pickle', encode: 93, decode: 133 }, measured: codecs.MSGPACK };

const SIMPLEJSON: Row = {
  published: { name: 'simplejson', encode: 2_263.3, decode: 5_114.4, bytes: 938_985 },
  measured: codecs.JSON_TEXT,
};

const REPR: Row = { published: { name: 'repr', encode: 75.37 }, measured: codecs.INSPECT };

export const QUESTIONS: readonly Question[] = [
  {
    title:
      'A container of 300 rows and 100 kB: an operation took 250 ms then, 16 to read the entity and 16 to write it',
    source: PICKLE_VERSUS_MARSHAL,
    value: CONTAINER,
    unit: 'ms',
    baseline: PICKLE,
    rows: [PICKLE, { measured: codecs.V8 }, { measured: codecs.JSON_TEXT }],
  },
  {
    title: '10,001 rows of six columns',
    source: PICKLE_VERSUS_MARSHAL,
    value: SIX_COLUMNS,
    unit: 'ms',
    baseline: SIMPLEJSON,
    rows: [
      {
        published: { name: 'pickle', encode: 1_561.7, decode: 1_109.8, bytes: 627_901 },
        measured: codecs.MSGPACK_REFERENCES,
      },
      {
        published: { name: 'pickle, protocol 2', encode: 2_012.7, decode: 944, bytes: 419_085 },
        measured: codecs.MSGPACK_REFERENCES,
      },
      { published: { name: 'marshal', encode: 14, decode: 173.3, bytes: 670_091 }, measured: codecs.V8 },
      SIMPLEJSON,
      // It was decoded once, and the time divided by two rounds: 118.8 was printed.
      { published: { name: 'CSV', encode: 254.2, decode: 2 * 118.8, bytes: 428_955 }, measured: codecs.CSV },
      { measured: codecs.MSGPACK },
      { measured: codecs.YAML },
    ],
  },
  {
    title: 'A dictionary of 100 numbers',
    source: 'Serializer benchmarks, 2007: Python on one computer',
    value: NUMBERS,
    unit: null,
    baseline: REPR,
    rows: [
      { published: { name: 'pyYAML', encode: 17_893.71 }, measured: codecs.YAML },
      { published: { name: 'pySyck', encode: 2_956.22 } },
      { published: { name: 'pprint', encode: 2_366.67 }, measured: codecs.INSPECT_LINES },
      { published: { name: 'pickle', encode: 1_587.23 }, measured: codecs.MSGPACK_REFERENCES },
      { published: { name: 'pickle, protocol 2', encode: 1_345.05 }, measured: codecs.MSGPACK_REFERENCES },
      { published: { name: 'simplejson', encode: 657.46 } },
      { published: { name: 'cPickle', encode: 165.77 }, measured: codecs.V8 },
      REPR,
      { published: { name: 'cjson', encode: 69.11 }, measured: codecs.JSON_TEXT },
      { published: { name: 'cPickle, protocol 2', encode: 54.34 }, measured: codecs.V8 },
      { published: { name: 'marshal', encode: 12.92 }, measured: codecs.V8 },
      { measured: codecs.MSGPACK },
    ],
  },
];

/** Readers of the second document found that some serializers lose what they are given. */
const ONE = { a: 1 };
export const VALUES: Dictionary = {
  integer: 12_345,
  '2^53 - 1': Number.MAX_SAFE_INTEGER,
  float: 0.1,
  '-0': -0,
  NaN: NaN,
  bigint: 2n ** 62n,
  null: null,
  undefined,
  'text of digits': '007',
  date: new Date(Date.UTC(2008, 3, 7)),
  bytes: Uint8Array.of(0, 128, 255),
  nested: { list: [1, { deep: 'x' }] },
  Map: new Map([['a', 1]]),
  'one object twice': [ONE, ONE],
};
