// Parts of one run are put together, with known answers.
import { expect, test } from 'vitest';
import {
  decodeHistogram,
  encodeHistogram,
  latenciesOf,
  newHistogram,
  operationsNeeded,
  percentileOf,
} from '../../../shared/lab/kit/histogram.ts';
import { mergeParts } from '../../../shared/lab/plan/outcome.ts';
import { COUNTERS, result } from '../fakes.ts';
import { histogramOf } from '../histogram-of.ts';

function encoded(latenciesMs: readonly number[]): string {
  return encodeHistogram(histogramOf(latenciesMs));
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

test('the merged histogram of several parts is that of all their operations', () => {
  const all = upTo(20_000).map((at) => at / 10);
  const parts = [0, 1, 2].map((part) => result({ histogram: encoded(all.filter((_, at) => at % 3 === part)) }));
  const merged = mergeParts(parts).histogram;
  expect(latenciesOf(merged)).toEqual(latenciesOf(decodeHistogram(encoded(all))));
  const { meanMs, p50Ms, p99Ms, p999Ms, maxMs } = latenciesOf(merged);
  const rounded = [meanMs, p50Ms, p99Ms, p999Ms, maxMs].map((ms) => Math.round(ms! / 5) * 5);
  expect(rounded).toEqual([1_000, 1_000, 1_980, 2_000, 2_000]);
});

test('rates of parts, each over its own window, and counts are added up', () => {
  const one = result({ records: 900, durationMs: 1_000, errors: { throttled: 2 } });
  const other = result({ records: 1_000, durationMs: 2_000, errors: { throttled: 1, '14': 1 } });
  const merged = mergeParts([one, other]);
  expect(merged.recordsPerSecond).toBe(900 + 500);
  expect(merged.errors).toEqual({ throttled: 3, '14': 1 });
  expect(merged.store).toBeNull();
  expect(merged.usage).toMatchObject({ requests: 400, retries: null, conflicts: 2, billable: { reads: 200 } });
});

test('the counters of all instances’ stores are added up', () => {
  const one = { ...COUNTERS, commits: 5, foreignCommits: 2 };
  const other = { ...COUNTERS, commits: 6, yields: 1 };
  const merged = mergeParts([result({ store: one }), result({ store: other })]);
  expect(merged.store).toEqual({ ...COUNTERS, commits: 11, foreignCommits: 2, yields: 1 });
});

test.each([
  [50, 20],
  [90, 100],
  [95, 200],
  [99, 1_000],
  [99.9, 10_000],
])('p%d needs %i operations', (percentile, needed) => {
  expect(operationsNeeded(percentile)).toBe(needed);
  expect(percentileOf(decodeHistogram(encoded(upTo(needed - 1))), percentile)).toBeNull();
  expect(percentileOf(decodeHistogram(encoded(upTo(needed))), percentile)).not.toBeNull();
});

test('no percentile is above the maximum', () => {
  // The bucket of 1,234.567 ms ends above that value.
  const { p50Ms, p99Ms, maxMs } = latenciesOf(histogramOf(Array.from({ length: 1_000 }, () => 1_234.567)));
  expect(p50Ms).toBeLessThanOrEqual(maxMs);
  expect(p99Ms).toBeLessThanOrEqual(maxMs);
  expect(maxMs).toBeCloseTo(1_234.567, 3);
});

test('no operations have no latency', () => {
  const rare = { p50Ms: null, p90Ms: null, p95Ms: null, p99Ms: null, p999Ms: null };
  expect(latenciesOf(newHistogram())).toEqual({ meanMs: 0, ...rare, maxMs: 0 });
});
