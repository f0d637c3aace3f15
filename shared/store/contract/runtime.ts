// Time, chance and threads, passed in: the engine knows no other clock, timer, random source or processor. A simulation supplies its own.
import { randomFillSync } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { setImmediate as immediate, setTimeout as delay } from 'node:timers/promises';
import { type Compressor, ON_THE_SPOT } from '../compressor.ts';
import { CompressionThread } from '../system/compression-thread.ts';

/** What the engine may ask of the world beside its driver. */
export interface Runtime {
  /** Milliseconds since 1970, for expiry times. May jump. */
  wallMs(): number;
  /** Milliseconds since some fixed moment, never going back. May stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Resolves after `ms`; keeps the process alive. */
  sleep(ms: number): Promise<void>;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. Does not keep the process alive. */
  watch(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the next turn of the event loop, when timers, replies and signals that were due have been heard. */
  nextTurn(): Promise<void>;
  /** Fresh bytes, drawn at the time of the call. */
  random(bytes: number): Uint8Array;
  /** Compresses pages, until its owner closes it. */
  newCompressor(): Compressor;
}

export const systemRuntime: Runtime = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms) => delay(ms),
  watch: async (ms, signal) => {
    try {
      await delay(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
    } catch {
      // The abort is the wake-up call.
    }
  },
  nextTurn: () => immediate(),
  random: (bytes) => randomFillSync(Buffer.allocUnsafe(bytes)),
  newCompressor: () => (availableParallelism() > 1 ? new CompressionThread() : ON_THE_SPOT),
};
