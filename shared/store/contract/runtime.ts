// Time and chance, passed in: the engine knows no other clock, timer or random source. A simulation supplies its own.

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
}

/** When a request was sent: `tick` orders events within the process, the times measure age. */
export interface Moment {
  readonly tick: number;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** How pages are compressed; `none` stores them as they are. */
export type Compression = 'zstd' | 'none';

/** A page's body as stored. */
export interface Compressed {
  /** Which compression, in the numbers of FORMAT.md. */
  readonly tag: number;
  readonly bytes: Uint8Array;
}
