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

export function percentilesOf(histogram: Histogram): Percentiles {
  const atMs = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1_000;
  return { p50Ms: atMs(50), p95Ms: atMs(95), p99Ms: atMs(99), maxMs: histogram.maxValue / 1_000 };
}
