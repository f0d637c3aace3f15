// A table gives back the same value, or refuses it; an unreadable one fails its own record.
import { execFileSync } from 'node:child_process';
import { isDeepStrictEqual } from 'node:util';
import { runInNewContext } from 'node:vm';
import { Packr, unpack } from 'msgpackr';
import { expect, test } from 'vitest';
import { type CodecName, StoreError } from '../../../shared/store/index.ts';
import { decodeValue, encodeValue, VALUE_DEPTH_MAX } from '../../../shared/store/table/encode-value.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';

type Codec = 'msgpack' | 'json';

const PLACE = { table: 't', key: 'k' };

/** Encoded and decoded, as a record that lies in a page is. */
function comesBack(value: unknown, codec: CodecName = 'msgpack'): unknown {
  const { tag, bytes } = encodeValue(codec, value, PLACE);
  return decodeValue(codec, { tag, bytes: Buffer.from(bytes) }, PLACE);
}

const INTEGERS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array];

function readAs(bytes: readonly number[] | Uint8Array): unknown {
  return decodeValue('msgpack', { tag: 1, bytes: Uint8Array.from(bytes) }, PLACE);
}

class Point {
  x = 1;
}

const OWN_PROTO = JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as unknown;
const MANY_KEYS = Object.fromEntries(Array.from({ length: 66_000 }, (_, key) => [key.toString(36), 1]));
const WITH_GETTER = Object.defineProperty({}, 'a', { enumerable: true, get: () => 1 });

const CARRIED: [string, unknown][] = [
  ['an object as the key of a Map', new Map([[{ a: 1 }, 1]])],
  ['a Map that looks like what stands for a Map', new Map([[Buffer.alloc(0), 'Map']])],
  ['a Map in an object in a Map', new Map([[undefined, { a: [new Map([[null, -0]])] }]])],
  ['a Set', new Set([1, '1', 1n, Number.NaN, null, undefined, new Set()])],
  ['a Set of the word Set', new Set([Buffer.alloc(0), 'Set'])],
  ['an own key __proto__', OWN_PROTO],
  ['an own key __proto__ beside a Map', { a: new Map(), b: OWN_PROTO }],
  ['integers at the edges', [2 ** 31, 2 ** 32, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, -(2 ** 53), 2 ** 64, 5e-324]],
  ['small bigints', [0n, 1n, -1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, -(2n ** 63n)]],
  ['large bigints', [2n ** 64n, -(2n ** 63n) - 1n, 2n ** 5_000n, -(2n ** 70_000n)]],
  ['dates', [0, 1, -1, 999, -1_000, 2 ** 32 * 1_000, 8.64e15, -8.64e15].map((ms) => new Date(ms))],
  ['a part of a longer array', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
  ['a byte order mark', [`\ufeff${'x'.repeat(100)}`, '\ufeff']],
  ['an object of 66,000 keys', MANY_KEYS],
  ['what a getter gives', WITH_GETTER],
];

test.each(CARRIED)('msgpack carries %s', (_, value) => {
  const read = comesBack(value);
  expect(isDeepStrictEqual(read, value)).toBe(true);
  expect(read).toStrictEqual(value);
});

// Jest, `vm` and vmThreads give objects of another realm: what `structuredClone` makes, or fetch.
const OF_ANOTHER_REALM: [made: string, codec: CodecName, same: unknown][] = [
  ['({ a: [1, { b: -0, c: [] }] })', 'msgpack', { a: [1, { b: -0, c: [] }] }],
  ['({ a: [1, { b: -0, c: [] }] })', 'json', { a: [1, { b: -0, c: [] }] }],
  ['[new Date(1.7e12), [new Date(-1)]]', 'msgpack', [new Date(1.7e12), [new Date(-1)]]],
  ['new Map([[{ a: 1 }, new Set([1])]])', 'msgpack', new Map([[{ a: 1 }, new Set([1])]])],
  ['new Uint8Array([1, 2, 3]).subarray(1)', 'bytes', Uint8Array.of(2, 3)],
  ['({ codec: "bytes", bytes: new Uint8Array([1]) })', 'encoded', { codec: 'bytes', bytes: Uint8Array.of(1) }],
  ['new Uint8Array([1, 2, 3]).buffer', 'msgpack', Uint8Array.of(1, 2, 3).buffer],
  ['new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 1)', 'msgpack', new DataView(Uint8Array.of(2).buffer)],
  ...[...INTEGERS, Float32Array, Float64Array].map((made): [string, CodecName, unknown] => {
    return [`({ a: new ${made.name}([1, 2, 3]).subarray(1) })`, 'msgpack', { a: made.of(2, 3) }];
  }),
  ['new BigInt64Array([-1n])', 'msgpack', BigInt64Array.of(-1n)],
  ['new BigUint64Array([1n])', 'msgpack', BigUint64Array.of(1n)],
];

test.each(OF_ANOTHER_REALM)('%s of another realm comes back by %s as one of this', (made, codec, same) => {
  expect(comesBack(runInNewContext(made), codec)).toStrictEqual(same);
});

test.each([
  ['Promise.resolve(1)', 'await it'],
  ['new (class extends Map {})()', 'an instance of a class'],
  ['[new Date(NaN)]', 'an invalid Date'],
  ['({ get a() { throw new RangeError("no") } })', 'value.a: no'],
])('%s of another realm is refused as one of this', (made, why) => {
  expect(() => comesBack(runInNewContext(made))).toThrow(why);
});

const CARRIED_AS_JSON: [string, unknown][] = [
  ['-0', { a: [-0, 0], b: -0 }],
  ['an own key __proto__', OWN_PROTO],
  ['a lone surrogate', { '\ud800': 'a\udfff' }],
  ['a byte order mark', `\ufeff${'x'.repeat(100)}`],
  ['a key toJSON', { toJSON: 1 }],
];

test.each(CARRIED_AS_JSON)('JSON carries %s', (_, value) => {
  expect(comesBack(value, 'json')).toStrictEqual(value);
});

const bare = (properties: object): unknown => Object.assign(Object.create(null), properties);

test.each(['msgpack', 'json'] as const)('%s takes objects without a prototype as plain ones', (codec) => {
  const value = [bare({}), { groups: bare({ constructor: 'a', hasOwnProperty: [bare({ b: null })] }) }];
  const read = comesBack([value, -0], codec);
  const plain = [{}, { groups: { constructor: 'a', hasOwnProperty: [{ b: null }] } }];
  expect(read).toStrictEqual([plain, -0]);
  expect(comesBack(value, codec)).toStrictEqual(plain);
});

function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

const AROUND: [string, Codec, (inner: unknown) => unknown][] = [
  ['arrays', 'msgpack', (inner) => [inner]],
  ['Maps', 'msgpack', (inner) => new Map([[inner, 1]])],
  ['objects', 'json', (inner) => ({ inner })],
];

test.each(AROUND)('%s within each other are carried by %s to the limit, and refused beyond', (_, codec, around) => {
  const deepest = nested(VALUE_DEPTH_MAX, around);
  expect(isDeepStrictEqual(comesBack(deepest, codec), deepest)).toBe(true);
  expect(() => comesBack(around(deepest), codec)).toThrow('nested deeper than 100 levels: make it flatter');
  expect(() => comesBack(nested(100_000, around), codec)).toThrow('nested deeper');
});

const cycle: unknown[] = [];
cycle.push({ cycle });
// oxlint-disable-next-line no-sparse-arrays
const sparse = [1, , 3];
// oxlint-disable-next-line no-sparse-arrays
const sparseWithMore = Object.assign([, 1], { more: 1 });

const REFUSED_BY_ALL: [string, unknown, string][] = [
  ['an instance of a class', [new Point()], 'an instance of Point'],
  ['a RegExp', /a/g, 'RegExp'],
  ['a subclass of Array', new (class List extends Array {})(), 'List'],
  ['an array with holes', sparse, 'holes'],
  ['an array of holes alone', Object.assign([], { length: 3 }), 'holes'],
  ['an array with a property', Object.assign([1], { a: 1 }), 'properties of its own'],
  ['an array with a hole and a property', sparseWithMore, 'holes'],
  ['a symbol as a key', { [Symbol('s')]: 1 }, 'symbols as keys'],
  ['a property that is not enumerable', Object.defineProperty({}, 'a', { value: 1 }), 'not enumerable'],
  ['a function', { a: [() => 1] }, 'a function cannot be stored'],
  ['a symbol', Symbol('s'), 'a symbol cannot be stored'],
  ['a promise', Promise.resolve(1), 'await it'],
  ['a cycle', cycle, 'contains itself'],
  ['undefined', undefined, 'put null'],
];

const REFUSED: [string, CodecName, unknown, string][] = [
  ...REFUSED_BY_ALL.flatMap(([name, value, why]): [string, Codec, unknown, string][] => [
    [name, 'msgpack', value, why],
    [name, 'json', value, why],
  ]),
  ['an invalid Date', 'msgpack', new Date(Number.NaN), 'put null'],
  ['a Date with a property', 'msgpack', Object.assign(new Date(0), { a: 1 }), 'added to an instance of Date'],
  ['a subclass of Map', 'msgpack', new (class Index extends Map {})(), 'Index'],
  ['a resizable ArrayBuffer', 'msgpack', new ArrayBuffer(1, { maxByteLength: 2 }), 'resizable'],
  ['a SharedArrayBuffer', 'msgpack', new SharedArrayBuffer(1), 'SharedArrayBuffer'],
  ['an object that only looks like a Map', 'msgpack', Object.create(Map.prototype), 'incompatible receiver'],
  ['a lone surrogate', 'msgpack', { a: 'b\ud800' }, 'lone surrogate'],
  ['a lone surrogate in a key', 'msgpack', { '\ud800': 1 }, 'lone surrogate'],
  ['a Date', 'json', { a: new Date(0) }, 'JSON would not give back an instance of Date'],
  ['a Map', 'json', new Map(), 'instance of Map'],
  ['a bigint', 'json', 1n, 'JSON has no bigint'],
  ['NaN', 'json', [Number.NaN], 'JSON has no NaN'],
  ['undefined in an object', 'json', { a: undefined }, 'leave the property out'],
  ['undefined in an array', 'json', [undefined], 'put null'],
  ['a function in a Map', 'msgpack', new Map([['a', () => 1]]), 'a function'],
  ['text as bytes', 'bytes', 'text', 'Uint8Array'],
];

test.each(REFUSED)('%s is refused by %s, with what to do', (_, codec, value, why) => {
  const refusal = { code: 'invalid', ...PLACE, message: expect.stringContaining(why) as string };
  expect(() => comesBack(value, codec)).toThrow(expect.objectContaining(refusal) as Error);
});

function mapOf(...entries: [unknown, unknown][]): Map<unknown, unknown> {
  return new Map(entries);
}

function fails(): never {
  throw new RangeError('no');
}

const PLACES: [path: string, Codec, unknown][] = [
  ['value', 'json', 1n],
  ['value.items[3].when', 'json', { a: { b: [1] }, items: [1, [2], { c: 3 }, { d: [], when: new Date(0) }], z: 1 }],
  ['value.items[1]', 'msgpack', { items: [1, new Point(), 2] }],
  ['value["first name"].$a_1', 'msgpack', { 'first name': { $a_1: Symbol('s') } }],
  ['value.holes', 'msgpack', { before: [1], holes: sparse }],
  ['value.map', 'msgpack', { map: Object.create(Map.prototype) as object }],
  ['[...value.map][1][0].a', 'msgpack', { map: mapOf(['k', [1]], [{ a: /a/ }, 2]) }],
  ['[...value.map][1][1]', 'msgpack', { map: mapOf([1, 2], ['k', /a/]) }],
  ['[...[...value][1]][2].a', 'msgpack', new Set([1, new Set([[], {}, { a: () => 1 }])])],
  ['value["\\ud800"]', 'msgpack', { '\ud800': 1 }],
  ['value.got', 'msgpack', Object.defineProperty({}, 'got', { enumerable: true, get: fails })],
  [`value.${'k'.repeat(194)}`, 'json', { ['k'.repeat(400_000)]: 1n }],
];

test.each(PLACES)('what is wrong at %s in a value is named so', async (path, codec, value) => {
  expect(() => comesBack(value, codec)).toThrow(`the codec "${codec}" cannot carry ${path}: `);
});

type Draw = () => number;

const LEAVES: ((draw: Draw) => unknown)[] = [
  () => null,
  () => undefined,
  () => -0,
  () => Number.NaN,
  (draw) => draw() < 0.5,
  (draw) => Math.trunc((draw() - 0.5) * 10 ** (draw() * 20)),
  (draw) => (draw() - 0.5) * 10 ** ((draw() - 0.5) * 600),
  (draw) => BigInt.asIntN(Math.floor(draw() * 300), BigInt(Math.trunc(draw() * 2 ** 53)) ** 9n),
  (draw) => textOf(draw),
  (draw) => new Date(Math.trunc((draw() - 0.5) * 10 ** (draw() * 18))),
  (draw) => new Date(Math.floor(draw() * 2 ** 34) * 1_000),
  (draw) => Buffer.from(textOf(draw)),
  (draw) => Uint8Array.from(Buffer.from(textOf(draw))),
  (draw) => Float32Array.of(draw(), -0),
  (draw) => BigUint64Array.of(BigInt(Math.floor(draw() * 2 ** 53))),
  () => new ArrayBuffer(5),
  () => /a/,
  () => new Point(),
  () => () => 1,
  () => Symbol('s'),
  () => new TypeError('a'),
  () => Object.create(Point.prototype),
  // oxlint-disable-next-line no-sparse-arrays
  () => [1, , 3],
];

const TEXTS = ['a', '__proto__', 'constructor', 'é', '名', '🚀', '\ufeff', '\ud800', '\0', '"\\', 'toJSON', '1'];

function textOf(draw: Draw): string {
  const text = TEXTS[Math.floor(draw() * TEXTS.length)]!;
  return draw() < 0.7 ? text : text.repeat(Math.floor(draw() ** 6 * 70_000));
}

function valueOf(draw: Draw, depth: number): unknown {
  const count = Math.floor(draw() * 4);
  const inner = (): unknown => valueOf(draw, depth + 1);
  const kind = depth > 4 ? 1 : draw();
  if (kind < 0.002) return Array.from({ length: count * 30_000 }, () => 1);
  if (kind < 0.15) return Array.from({ length: count }, inner);
  if (kind < 0.35) return Object.fromEntries(Array.from({ length: count }, () => [textOf(draw), inner()]));
  if (kind < 0.45) return new Map(Array.from({ length: count }, () => [inner(), inner()]));
  if (kind < 0.5) return new Set(Array.from({ length: count }, inner));
  // Values that are refused come late in the list, and seldom.
  return LEAVES[Math.floor(draw() ** 2 * LEAVES.length)]!(draw);
}

function comesBackOrRefused(value: unknown, codec: Codec): unknown {
  try {
    return comesBack(value, codec);
  } catch (error) {
    return error;
  }
}

test.each(['msgpack', 'json'] as const)('whatever is put as %s comes back the same, or is refused', (codec) => {
  const ends = { same: 0, refused: 0 };
  for (let seed = 0; seed < 1_000; seed += 1) {
    const value = valueOf(seededRandom(seed), 0);
    const read = comesBackOrRefused(value, codec);
    const isRefused = read instanceof StoreError && (read.code === 'invalid' || read.code === 'too_large');
    ends[isRefused ? 'refused' : 'same'] += 1;
    expect(isRefused || isDeepStrictEqual(read, value), `seed ${seed}`).toBe(true);
  }
  expect(ends.same).toBeGreaterThan(200);
  expect(ends.refused).toBeGreaterThan(100);
});

test('without the native part of msgpackr a byte order mark is kept too', () => {
  const script = `
    const { isNativeAccelerationEnabled } = await import('msgpackr');
    const { decodeValue, encodeValue } = await import(process.argv[1]);
    const text = '\\ufeff' + 'x'.repeat(100);
    const { tag, bytes } = encodeValue('msgpack', { [text]: text }, { table: 't', key: 'k' });
    const read = decodeValue('msgpack', { tag, bytes: Buffer.from(bytes) }, { table: 't', key: 'k' });
    console.log(isNativeAccelerationEnabled, read[text] === text);`;
  const env = { ...process.env, MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' };
  const codec = new URL('../../../shared/store/table/encode-value.ts', import.meta.url).href;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script, codec], { env, encoding: 'utf8' });
  expect(said.trim()).toBe('false true');
});

test('texts of each length come back the same, with a character beyond ASCII at each place too', () => {
  const lengths = Array.from({ length: 20 }, (_, length) => 'x'.repeat(length));
  const mixed = lengths.flatMap((text) => ['é', '名', '\u007f', '\u0080'].flatMap((one) => placed(text, one)));
  expect(comesBack([...lengths, ...mixed])).toStrictEqual([...lengths, ...mixed]);
});

function placed(text: string, one: string): string[] {
  return Array.from({ length: text.length + 1 }, (_, at) => text.slice(0, at) + one + text.slice(at));
}

const FOREIGN: [string, number[], unknown][] = [
  ['an array as a key', [0x81, 0x91, 0x01, 0x02], new Map([[[1], 2]])],
  ['a number as a key', [0x81, 0x01, 0x02], new Map([[1, 2]])],
  ['keys of two types', [0x82, 0x01, 0x02, 0xa1, 0x61, 0x03], mapOf([1, 2], ['a', 3])],
  [
    'keys of two types, the text first',
    [0x83, 0xa1, 0x32, 0x01, 0xa1, 0x31, 0x02, 0x03, 0x04],
    mapOf(['2', 1], ['1', 2], [3, 4]),
  ],
  [
    'the key __proto__ of another length',
    [0x81, 0xd9, 9, ...Buffer.from('__proto__'), 1],
    JSON.parse('{"__proto__":1}'),
  ],
  ['a Map whose first key is empty bytes', [0x82, 0xc4, 0, 0xa1, 0x78, 1, 2], mapOf([Buffer.alloc(0), 'x'], [1, 2])],
];

test.each(FOREIGN)('MessagePack of others is read faithfully: %s', (_, bytes, value) => {
  expect(readAs(bytes)).toStrictEqual(value);
});

function keyRead(key: Buffer): string | undefined {
  return Object.keys(readAs([0x81, 0xa0 + key.length, ...key, 1]) as object)[0];
}

function isMistaken(text: string): boolean {
  return keyRead(Buffer.from(text, 'utf8')) !== text || keyRead(Buffer.from(text, 'latin1')) === text;
}

test('keys that are no UTF-8 are not taken for text that was read before', () => {
  const bytes = Array.from({ length: 64 }, (_, index) => String.fromCharCode(0xc0 + index));
  expect(bytes.flatMap((one) => bytes.map((other) => one + other)).filter(isMistaken)).toEqual([]);
});

test('maps whose later keys are no text, one in another, keep the order of their keys', () => {
  const depth = 60;
  const bytes = Array.from({ length: depth }, () => [0x82, 0xa1, 0x61]).flat();
  bytes.push(0xc0, ...Array.from({ length: depth }, () => [0x01, 0x02]).flat());
  let value = readAs(bytes) as Map<unknown, unknown> | null;
  let levels = 0;
  for (; value !== null; value = value.get('a') as typeof value) {
    expect([...value.keys()]).toEqual(['a', 1]);
    levels += 1;
  }
  expect(levels).toBe(depth);
});

/** A text of 14 characters behind all else, as msgpackr bundles strings. */
const BUNDLED = [0xd6, 0x62, 0, 0, 0, 6, 0xc1, 14, 0xa0, 0xae, ...Buffer.from('xxxxxxxxxxxxxx')];

const UNREADABLE: [string, number[]][] = [
  ['nothing', []],
  ['a map that is cut short', [0x82, 0x01, 0x02]],
  ['an array that claims a million', [0xdd, 0x00, 0x0f, 0xff, 0xff, 0x81, 0x01, 0x02]],
  ['a map that claims four billion', [0xdf, 0xff, 0xff, 0xff, 0xff, 0x01, 0x02]],
  ['text that is cut short', [0x81, 0x01, 0xd9, 0x20, 0x61]],
  ['a length that is cut short', [0x81, 0x01, 0xc6, 0x00]],
  ['a time that is cut short', [0xd7, 0xff, 0, 0, 0, 0, 0, 0, 0]],
  ['bytes behind the value', [0x81, 0x01, 0x02, 0x03]],
  ['strings that msgpackr has bundled', [0x81, 0xa1, 0x61, 0x91, ...BUNDLED]],
  ['an Error as msgpackr writes it', [0xd4, 0x65, 0x00, 0x93, 0xa1, 0x41, 0xa1, 0x62, 0xc0]],
  ['a hundred thousand arrays in each other', Array.from({ length: 100_000 }, () => 0x91)],
];

test.each(UNREADABLE)('MessagePack that cannot be read faithfully is corrupt: %s', (_, bytes) => {
  expect(() => readAs(bytes)).toThrow(expect.objectContaining({ code: 'corrupt', key: 'k' }) as Error);
});

test('a reader that knows nothing of Maps and Sets finds a map in their place', () => {
  const { bytes } = encodeValue('msgpack', { m: new Map([['k', 1]]), s: new Set([2]) }, PLACE);
  const read: unknown = new Packr({ useRecords: false, mapsAsObjects: false }).unpack(bytes);
  const [m, s] = [mapOf([Buffer.alloc(0), 'Map'], ['k', 1]), mapOf([Buffer.alloc(0), 'Set'], [2, null])];
  expect(read).toEqual(mapOf(['m', m], ['s', s]));
});

/** The bytes of FORMAT.md, "Values in MessagePack", whatever msgpackr's next release writes. */
const GOLDEN: readonly [value: unknown, hex: string][] = [
  [{ a: 1 }, 'de0001a16101'],
  [new Map([[1, 2]]), 'df00000002c400a34d61700102'],
  [new Map(), 'df00000001c400a34d6170'],
  [new Set([1]), 'df00000002c400a353657401c0'],
  [5n, 'd30000000000000005'],
  [-5n, 'd3fffffffffffffffb'],
  [2n ** 64n - 1n, 'cfffffffffffffffff'],
  [2n ** 64n, 'd84200000000000000010000000000000000'],
  [-(2n ** 63n) - 1n, 'd842ffffffffffffffff7fffffffffffffff'],
  [0, '00'],
  [200, 'ccc8'],
  [60_000, 'cdea60'],
  [4_294_967_295, 'ceffffffff'],
  [4_294_967_296, 'cb41f0000000000000'],
  [-3, 'fd'],
  [-100, 'd09c'],
  [-30_000, 'd18ad0'],
  [-2_147_483_648, 'd280000000'],
  [-2_147_483_649, 'cbc1e0000000200000'],
  [1.5, 'cb3ff8000000000000'],
  [-0, 'cb8000000000000000'],
  [new Date(0), 'd6ff00000000'],
  [new Date(1_700_000_000_005), 'd7ff01312d006553f100'],
  [new Date(-1), 'c70cff3b8b87c0ffffffffffffffff'],
  [Buffer.of(1), 'c40101'],
  [Int8Array.of(1), 'c702740001'],
  [Uint8Array.of(1), 'c702740101'],
  [Uint8ClampedArray.of(1), 'c702740201'],
  [Int16Array.of(1), 'c70374030100'],
  [Uint16Array.of(1), 'c70374040100'],
  [Int32Array.of(1), 'c705740501000000'],
  [Uint32Array.of(1), 'c705740601000000'],
  [Float32Array.of(1), 'c70574070000803f'],
  [Float64Array.of(1), 'c7097408000000000000f03f'],
  [BigInt64Array.of(1n), 'c70974090100000000000000'],
  [BigUint64Array.of(1n), 'c709740a0100000000000000'],
  [new ArrayBuffer(1), 'c702741000'],
  [new DataView(new ArrayBuffer(1)), 'c702741100'],
  [[undefined], '91d40000'],
];

test.each(GOLDEN)('%o is stored as %s, and read back', (value, hex) => {
  const { tag, bytes } = encodeValue('msgpack', value, PLACE);
  expect([tag, Buffer.from(bytes).toString('hex')]).toEqual([1, hex]);
  expect(decodeValue('msgpack', { tag, bytes: Buffer.from(hex, 'hex') }, PLACE)).toStrictEqual(value);
});

// Fields of nanoseconds and seconds at their ends; the last ones are not what a writer makes.
test.each([
  'd6ffffffffff',
  'd7ff00000000ffffffff',
  'd7ffee6b2803ffffffff',
  'd7ff003d0900ffffffff',
  'd7ff0003d09000000001',
  'd7ffffffffffffffffff',
])('the time %s is what msgpackr reads', (hex) => {
  expect(readAs(Buffer.from(hex, 'hex'))).toEqual(unpack(Buffer.from(hex, 'hex')));
});
