// Histograms of known latencies, for results by hand.
import { encodeHistogram, newHistogram, recordLatency } from '../../shared/lab/kit/histogram.ts';

export function histogramOf(latenciesMs: readonly number[]): ReturnType<typeof newHistogram> {
  const histogram = newHistogram();
  for (const latencyMs of latenciesMs) recordLatency(histogram, latencyMs);
  return histogram;
}

/** As it stands in a result: of so many operations that took equally long. */
export function encodedOf(operations: number, latencyMs: number): string {
  return encodeHistogram(histogramOf(Array<number>(operations).fill(latencyMs)));
}
