// Logarithm and exponential are the same on every machine: near V8's, and some to the last bit.
import { expect, test } from 'vitest';
import { exp, ln, power } from '../../../shared/lab/kit/exact-math.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';

const random = seededRandom(11);
const ULP = 2 ** -52;

function isClose(found: number, expected: number): boolean {
  return Math.abs(found - expected) <= 2 * ULP * Math.max(Math.abs(expected), 2 ** -1_000);
}

test('the logarithm is that of V8 to within two units in the last place', () => {
  const numbers = Array.from({ length: 20_000 }, () => (random() + 2 ** -40) * 10 ** (Math.floor(random() * 40) - 20));
  expect(numbers.filter((x) => !isClose(ln(x), Math.log(x)))).toEqual([]);
  const near = Array.from({ length: 5_000 }, () => 1 + (random() - 0.5) / 1_000);
  expect(near.filter((x) => !isClose(ln(x), Math.log(x)))).toEqual([]);
});

test('so is the exponential', () => {
  const numbers = Array.from({ length: 20_000 }, () => (random() - 0.5) * 1_400);
  expect(numbers.filter((x) => !isClose(exp(x), Math.exp(x)))).toEqual([]);
});

test('powers are close, and exact where they can be', () => {
  for (let rank = 1; rank < 5_000; rank += 1)
    expect(Math.abs(power(rank, -0.99) / rank ** -0.99 - 1)).toBeLessThan(1e-14);
  expect(power(1, 5.5)).toBe(1);
});

test('the bits do not change', () => {
  expect([ln(2), ln(10), ln(1e-9), exp(1), exp(-0.6), exp(12.3), power(10_000, 0.99)].map(bits)).toEqual([
    '3fe62e42fefa39ef',
    '40026bb1bbb55516',
    'c034b927f32bffb8',
    '4005bf0a8b14576a',
    '3fe18fdd6b9604e4',
    '410ad17fe8ccf016',
    '40c1d00ddfd713bc',
  ]);
});

test('what has no logarithm is refused, and what is too large or small is that', () => {
  for (const x of [0, -1, NaN, Infinity]) expect(() => ln(x)).toThrow(RangeError);
  expect([ln(1), exp(0), exp(1_000), exp(-1_000)]).toEqual([0, 1, Infinity, 0]);
  expect(exp(NaN)).toBeNaN();
});

function bits(x: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  return view.getBigUint64(0).toString(16);
}
