// Who compresses the pages of a commit: the thread that asks, or another beside it.
import type { Compression } from './contract/api.ts';
import { compress, type Compressed } from './format/compression.ts';

export interface Compressor {
  /**
   * Each body as it is to be stored, in order: at once, or, of another thread, in time; undefined if that thread could not, or never if it
   * hangs: then they are compressed on the spot.
   */
  compress(
    bodies: readonly Uint8Array[],
    compression: Compression,
  ): readonly Compressed[] | Promise<readonly Compressed[] | undefined>;
  /** Ends its thread, also one that hangs; what is under way ends as undefined. Afterwards it works on the spot. Idempotent. */
  close(): Promise<void>;
}

export function compressHere(bodies: readonly Uint8Array[], compression: Compression): readonly Compressed[] {
  return bodies.map((body) => compress(body, compression));
}

export const ON_THE_SPOT: Compressor = { compress: compressHere, close: () => Promise.resolve() };
