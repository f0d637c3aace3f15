// Time, chance and threads, passed in: the engine knows no other clock, timer, random source or processor. A simulation supplies its own.

/** What the engine may ask of the world beside its driver. */
export interface Runtime {
  /** Milliseconds since 1970, for expiry times. May jump. */
  wallMs(): number;
  /** Milliseconds since some fixed moment, never going back. May stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** As `sleep`, but does not keep the process alive. */
  watch(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the next turn of the event loop, when timers, replies and signals that were due have been heard. */
  nextTurn(): Promise<void>;
  /** The share, 0 to 1, of the last moments in which this thread had work. */
  busyShare(): number;
  /** Fresh bytes, drawn at the time of the call: of two processes that were restored from one snapshot each must draw its own (rule 21). */
  random(bytes: number): Uint8Array;
  /** A compressor of pages, which the caller closes. */
  newCompressor(): Compressor;
}

/** Compresses pages, perhaps on a thread of its own. */
export interface Compressor {
  /**
   * The compressed bodies, in order. Work that goes to another thread gives a promise: of undefined if the thread failed, and one that never
   * settles if the thread hangs. In both cases the caller compresses on the spot.
   */
  compress(
    bodies: readonly Uint8Array[],
    compression: Compression,
  ): readonly Compressed[] | Promise<readonly Compressed[] | undefined>;
  /**
   * Asks the thread to end and waits for it, a few seconds at most: one that hangs is left to itself. Work under way resolves to undefined, later
   * calls compress on the spot. Never rejects. Idempotent.
   */
  close(): Promise<void>;
}

/** When a request was sent: `tick` orders events within the process, the times measure age. */
export interface Moment {
  readonly tick: number;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** How pages are compressed; `none` stores them as they are. */
export type Compression = 'zstd' | 'deflate' | 'none';

/** A page's body as stored. */
export interface Compressed {
  /** Which compression, in the numbers of FORMAT.md. */
  readonly tag: number;
  readonly bytes: Uint8Array;
}
