// The bytes of FORMAT.md, "Values in MessagePack", whatever msgpackr's next release writes.
import { unpack } from 'msgpackr';
import { expect, test } from 'vitest';
import { decodeValue, encodeValue } from '../../../shared/store/table/encode-value.ts';

const RECORD = { table: 't', key: 'k' };

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
  const { tag, bytes } = encodeValue('msgpack', value, RECORD);
  expect([tag, Buffer.from(bytes).toString('hex')]).toEqual([1, hex]);
  expect(decodeValue('msgpack', { tag, bytes: Buffer.from(hex, 'hex') }, RECORD)).toStrictEqual(value);
});

function decoded(hex: string): unknown {
  return decodeValue('msgpack', { tag: 1, bytes: Buffer.from(hex, 'hex') }, RECORD);
}

// Fields of nanoseconds and seconds at their ends; the last ones are not what a writer makes.
test.each([
  'd6ffffffffff',
  'd7ff00000000ffffffff',
  'd7ffee6b2803ffffffff',
  'd7ff003d0900ffffffff',
  'd7ff0003d09000000001',
  'd7ffffffffffffffffff',
])('the time %s is what msgpackr reads', (hex) => {
  expect(decoded(hex)).toEqual(unpack(Buffer.from(hex, 'hex')));
});

test('a time that is cut short is refused', () => {
  for (const hex of ['d6ff000000', 'd7ff00000000000000', 'd7ff', 'd6'])
    expect(() => decoded(hex)).toThrow(expect.objectContaining({ code: 'corrupt' }));
});

test('a Map whose first key is empty bytes is read, without such a kind', () => {
  const entries: [unknown, unknown][] = [
    [Buffer.alloc(0), 'x'],
    [1, 2],
  ];
  expect(decoded('82c400a1780102')).toStrictEqual(new Map(entries));
});
