// Figures that a run only comes close to.
import { expect } from 'vitest';

/** Theory gives `expected`; `share` is the share of it by which `found` may differ at most. */
export function expectWithin(found: number, expected: number, share: number): void {
  expect(Math.abs(found / expected - 1), `${found} is not ${expected}`).toBeLessThan(share);
}

/** No figure between the two is better than another. */
export function expectBetween(found: number, low: number, high: number): void {
  expect(found).toBeGreaterThan(low);
  expect(found).toBeLessThan(high);
}
