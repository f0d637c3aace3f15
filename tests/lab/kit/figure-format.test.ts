import { expect, test } from 'vitest';
import { figureOf } from '../../../shared/lab/kit/figure.ts';
import * as format from '../../../shared/lab/kit/figure-format.ts';

const { cents, decimal, dollars, factor, intervalText, threeDigits, whole } = format;

test.each([
  [
    factor,
    [26.4, 9.96, 1, 0.996, 0.32, 0.00666, 0],
    ['26 x', '10.0 x', '1.0 x', '1.00 x', '0.32 x', '0.0067 x', '0 x'],
  ],
  [decimal, [1_234.5, 99.94, 9.996, 0.123], ['1,235', '99.9', '10.00', '0.12']],
  [threeDigits, [1_111_111.1, 112.6, 2.584, 0.0123, -0.5], ['1,111,111', '113', '2.58', '0.0123', '-0.5']],
  [dollars, [12_345, 1.239, 0.9, 0.0061, 0], ['12,345', '1.24', '0.9', '0.0061', '0']],
  [cents, [1_234.5, 0.005, 0.004, 0, 1.234e12], ['1,234.50', '0.01', '< 0.01', '0.00', '1.23e+12']],
] as const)('%o gives few digits, whatever the size', (format, values, texts) => {
  expect(values.map(format)).toEqual(texts);
});

test('an interval whose ends read alike is one number, and one run has none', () => {
  expect(intervalText(figureOf([10.1, 12]), whole)).toBe('10 to 12');
  expect(intervalText(figureOf([10.1, 10.2]), whole)).toBe('10');
  expect(intervalText(figureOf([10]), whole)).toBe('one run');
});
