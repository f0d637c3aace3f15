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
  /** Resolves in the event loop's next turn, behind due timers, replies and signals. */
  nextTurn(): Promise<void>;
  /** The share, 0 to 1, of the last moments in which this thread had work. */
  busyShare(): number;
  /** Draws bytes when called: processes restored from one snapshot must differ (rule 21). */
  random(bytes: number): Uint8Array;
}

/** When a request was sent: `tick` orders events within the process, the times measure age. */
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
