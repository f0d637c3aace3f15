import { describe, expect, test } from 'vitest';
import { BUSY_IN_FLIGHT, costAt } from '../../../shared/model/data/processor.ts';

describe('the cost of one of several in flight', () => {
  const cost = { alone: 1_000, busy: 100 };

  test('is what was measured, alone and at 32', () => {
    expect(costAt(cost, 1)).toBe(1_000);
    expect(costAt(cost, BUSY_IN_FLIGHT)).toBe(100);
  });

  test('shares what is not its own among all in flight', () => {
    // 100 + 900 * (32 / 2 - 1) / 31, and so on.
    expect(costAt(cost, 2)).toBeCloseTo(535.48, 2);
    expect(costAt(cost, 8)).toBeCloseTo(187.1, 1);
  });

  test('does not fall below the busy one, nor rise above the lone one', () => {
    expect(costAt(cost, 1_000)).toBe(100);
    expect(costAt(cost, 0)).toBe(1_000);
  });
});
