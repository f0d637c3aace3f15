// Time, chance and threads, passed in: the engine knows no other clock, timer, random source or processor. A simulation supplies its own.

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

/** When a request was sent: `tick` orders events within the process, the times measure age. */
export interface Moment {
  readonly tick: number;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export type Compression = 'zstd' | 'deflate' | 'none';

export interface Compressed {
  readonly tag: number;
  readonly bytes: Uint8Array;
}
