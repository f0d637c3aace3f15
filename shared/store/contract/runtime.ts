// Time and chance, passed in: the engine has no other clock, timer or random source.

export interface Runtime {
  /** Milliseconds since 1970, for expiry times. May jump. */
  wallMs(): number;
  /** Milliseconds since some fixed moment. Never goes back; may stop while the machine sleeps. */
  monotonicMs(): number;
  /** Resolves after `ms`, or when the signal aborts; never rejects. Keeps the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** As `sleep`, but does not keep the process alive. */
  watch(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves in the event loop's next turn, after due timers, replies and signals. */
  nextTurn(): Promise<void>;
  /** The share of the recent past, 0 to 1, in which this thread had work. */
  busyShare(): number;
  /** Draws bytes only when called, so that processes restored from one snapshot differ. */
  random(bytes: number): Uint8Array;
}

/** A moment in one process. `tick` orders moments; the two clocks measure age. */
export interface Moment {
  readonly tick: number;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** `none` stores pages as they are. */
export type Compression = 'zstd' | 'none';

/** A page's body as stored. */
export interface Compressed {
  /** The compression's number in FORMAT.md. */
  readonly tag: number;
  readonly bytes: Uint8Array;
}
