// Latency histograms in microseconds, of three significant digits. They can be merged.
import * as hdr from 'hdr-histogram-js';

/** One minute: no operation of the comparison may take longer. */
const HIGHEST_MICROSECONDS = 60_000_000;

export type Histogram = hdr.Histogram;

/** A percentile needs so many slower operations: with fewer, one of them moves it by a multiple. */
const SLOWER_MIN = 10;

/** How many operations a percentile needs: p50 20, p90 100, p95 200, p99 1,000, p99.9 10,000. */
export function operationsNeeded(percentile: number): number {
  return Math.round((SLOWER_MIN * 100) / (100 - percentile));
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

export function mergeHistograms(encoded: readonly string[]): Histogram {
  const merged = newHistogram();
  for (const one of encoded) merged.add(decodeHistogram(one));
  return merged;
}

/** Percentiles are null where operations are too few; mean and maximum of none are 0. */
export function latenciesOf(histogram: Histogram) {
  const given = (percentile: number): number | null => percentileOf(histogram, percentile);
  return {
    meanMs: histogram.totalCount === 0 ? 0 : histogram.mean / 1_000,
    p50Ms: given(50),
    p90Ms: given(90),
    p95Ms: given(95),
    p99Ms: given(99),
    p999Ms: given(99.9),
    maxMs: maxMsOf(histogram),
  };
}

/** Null where the operations are too few for it. */
export function percentileOf(histogram: Histogram, percentile: number): number | null {
  if (histogram.totalCount < operationsNeeded(percentile)) return null;
  // A percentile is the upper end of its bucket, which the maximum may lie below.
  return Math.min(histogram.getValueAtPercentile(percentile) / 1_000, maxMsOf(histogram));
}

function maxMsOf(histogram: Histogram): number {
  return histogram.totalCount === 0 ? 0 : histogram.maxValue / 1_000;
}
