// How much processor time a short piece of work takes typically. Not wall time: on a machine that
// does other things too, that is theirs as well.
import { PROCESS_CLOCKS } from '../../../../../shared/lab/load/spent.ts';
import { median } from '../../../../../shared/lab/kit/numbers.ts';

const CHUNKS = 3;
/** Long enough that reading the clock does not count. */
const CHUNK_LEAST_MS = 2;
/** Work that takes longer than this is not repeated as often. */
const TOTAL_MS = 100;

/**
 * Milliseconds of one call: the median of three chunks of some milliseconds, of fewer where the
 * work is slow. All threads count, so collecting garbage does.
 */
export function typicalMs(work: () => unknown): number {
  const chunks: number[] = [];
  const startedMs = processorMs();
  while (chunks.length < CHUNKS) {
    const chunkMs = processorMs();
    let calls = 0;
    let tookMs = 0;
    while (tookMs < CHUNK_LEAST_MS) {
      work();
      calls += 1;
      tookMs = processorMs() - chunkMs;
    }
    chunks.push(tookMs / calls);
    if (processorMs() - startedMs > TOTAL_MS) break;
  }
  return median(chunks);
}

function processorMs(): number {
  return PROCESS_CLOCKS.processorUs() / 1_000;
}
