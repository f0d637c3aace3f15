// Latency histograms: recorded in microseconds where the cell ran, merged and read by whoever shows them. Three significant digits.
import * as hdr from 'hdr-histogram-js';

/** One minute: no operation of the comparison may take longer. */
const HIGHEST_MICROSECONDS = 60_000_000;

export type Histogram = hdr.Histogram;

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * So many operations must have been slower than a percentile for it to be given. How many are, is chance: 10 give or take 3 by the binomial
 * distribution, and with fewer of them one slow operation more or less moves the percentile by a multiple.
 */
const SLOWER_MIN = 10;

/** How many operations were timed, and the percentiles that so many bear: p50 from 20 operations on, p95 from 200, p99 from 1,000; else null. */
export interface Latencies {
  readonly operations: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number;
}

/** From 1 µs to one minute; longer ones count as one minute. */
export function newHistogram(): Histogram {
  return hdr.build({
    bitBucketSize: 32,
    autoResize: false,
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  });
}

export function recordLatency(histogram: Histogram, latencyMs: number): void {
  const microseconds = Math.round(latencyMs * 1_000);
  histogram.recordValue(Math.min(HIGHEST_MICROSECONDS, Math.max(1, microseconds)));
}

/** HdrHistogram V2, compressed, base64: the interchange format of the HdrHistogram family. */
export function encodeHistogram(histogram: Histogram): string {
  return hdr.encodeIntoCompressedBase64(histogram);
}

export function decodeHistogram(encoded: string): Histogram {
  return hdr.decodeFromCompressedBase64(encoded);
}

/** One histogram of all the samples of several encoded ones. */
export function mergeHistograms(encoded: readonly string[]): Histogram {
  const merged = newHistogram();
  for (const one of encoded) merged.add(decodeHistogram(one));
  return merged;
}

/** The percentiles that stand on enough operations. */
export function latenciesOf(histogram: Histogram): Latencies {
  const operations = histogram.totalCount;
  const { p50Ms, p95Ms, p99Ms, maxMs } = percentilesOf(histogram);
  const given = (percentile: number, ms: number): number | null =>
    (operations * (100 - percentile)) / 100 >= SLOWER_MIN ? ms : null;
  return { operations, p50Ms: given(50, p50Ms), p95Ms: given(95, p95Ms), p99Ms: given(99, p99Ms), maxMs };
}

/** The percentiles, however few samples there are. */
export function percentilesOf(histogram: Histogram): Percentiles {
  const atMs = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1_000;
  return { p50Ms: atMs(50), p95Ms: atMs(95), p99Ms: atMs(99), maxMs: histogram.maxValue / 1_000 };
}
