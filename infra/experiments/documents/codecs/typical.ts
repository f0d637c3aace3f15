// How long a short piece of work takes typically, on a machine that does other things too.
import { median } from '../../../../shared/compare/plan/median.ts';

const CHUNKS = 5;
/** Long enough that reading the clock does not count. */
const CHUNK_LEAST_MS = 2;
/** Work that takes longer than this once is not repeated. */
const TOTAL_MS = 250;

/** Milliseconds of one call: the median of five chunks of some milliseconds, of fewer where the work is slow. */
export function typicalMs(work: () => unknown): number {
  const chunks: number[] = [];
  const startedMs = performance.now();
  while (chunks.length < CHUNKS) {
    const chunkMs = performance.now();
    let calls = 0;
    let tookMs = 0;
    while (tookMs < CHUNK_LEAST_MS) {
      work();
      calls += 1;
      tookMs = performance.now() - chunkMs;
    }
    chunks.push(tookMs / calls);
    if (performance.now() - startedMs > TOTAL_MS) break;
  }
  return median(chunks);
}
