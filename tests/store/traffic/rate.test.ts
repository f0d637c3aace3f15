// How often something happens, as far as it was watched.
import { expect, test } from 'vitest';
import { Rate } from '../../../shared/store/traffic/rate.ts';

const HORIZON_MS = 5_000;

function watched(...counts: readonly number[]): Rate {
  const rate = new Rate();
  for (const count of counts) rate.add(count, 100, HORIZON_MS);
  return rate;
}

test('what was watched for a moment only is taken for what is usual', () => {
  expect(new Rate().perMs(0.02)).toBe(0.02);
  expect(watched(0).perMs(0.02)).toBeCloseTo(0.02 / 1.1);
});

test('what was long ago fades', () => {
  const rate = watched(...Array.from({ length: 400 }, () => 1));
  const before = rate.perMs();
  for (let looks = 0; looks < 100; looks += 1) rate.add(0, 100, HORIZON_MS);
  expect(rate.perMs()).toBeLessThan(before / 4);
});
