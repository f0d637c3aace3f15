// Figures that theory gives, which a run only comes close to.
import { expect } from 'vitest';

/** `share` is the most by which `found` may differ, as a share of `expected`. */
export function expectWithin(found: number, expected: number, share: number): void {
  expect(Math.abs(found / expected - 1), `${found} is not ${expected}`).toBeLessThan(share);
}
