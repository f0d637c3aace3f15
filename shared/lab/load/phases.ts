// When the window of a cell opens and closes: after a warm-up until the load is steady, and after its length, or a little later where callers have had too
// few replies. It looks at the clock when somebody asks; nothing here waits.
import type { CellRequest } from './cell.ts';
import { isSteady, SLICES_LEAST } from './steady.ts';

export interface PhasesOptions extends Pick<
  CellRequest,
  'callers' | 'ratePerSecond' | 'durationMs' | 'warmup' | 'windowAtMs'
> {
  /** The store's, as far as it tells the time. */
  readonly runtime: { monotonicMs(): number; wallMs(): number };
}

/**
 * The window ends at its length where each caller has had two replies on average, at three times its length where each has had one, and at ten
 * times whatever came. With fewer replies the latencies would be those of nobody. An open loop's window has its length.
 */
const GROWTH = [
  { factor: 1, repliesPerCaller: 2 },
  { factor: 3, repliesPerCaller: 1 },
  { factor: 10, repliesPerCaller: 0 },
] as const;

/** No window is longer than its wanted length times this. */
export const WINDOW_GROWTH_MAX = 10;

/** Operations still in flight when the window closes are waited for so long. */
export const DRAIN_MS = 10_000;

/** What a load asks of its phases. */
export type WindowPhases = Pick<
  Phases,
  'startMs' | 'openedMs' | 'closedMs' | 'isSteady' | 'tickMs' | 'look' | 'close' | 'replied'
>;

/** All times in milliseconds of the runtime's monotonic clock. */
export class Phases {
  readonly startMs: number;
  /** When the window opened; Infinity until then. */
  openedMs = Infinity;
  /** When it closed; Infinity until then. */
  closedMs = Infinity;
  isSteady = false;
  readonly #options: PhasesOptions;
  readonly #sliceMs: number;
  /** By this instance's clock; undefined if it opens when the load is warm. */
  readonly #opensAtMs: number | undefined;
  readonly #warmupReplies: number[] = [];
  #slicesSeen = 0;
  #replies = 0;
  #lastReplyMs = 0;

  constructor(options: PhasesOptions) {
    const { warmup, windowAtMs, runtime } = options;
    this.#options = options;
    this.startMs = runtime.monotonicMs();
    this.#sliceMs = Math.max(1, (warmup.leastMs > 0 ? warmup.leastMs : warmup.mostMs) / SLICES_LEAST);
    if (windowAtMs !== null) this.#opensAtMs = Math.max(this.startMs, this.startMs + windowAtMs - runtime.wallMs());
  }

  /** How often somebody has to look at least. */
  get tickMs(): number {
    const windowTickMs = Math.max(1, this.#options.durationMs / 20);
    return this.openedMs === Infinity ? Math.min(this.#sliceMs, windowTickMs) : windowTickMs;
  }

  /** Opens and closes what is due. To be called before a reply is counted, and before a call is made. */
  look(): void {
    const nowMs = this.#options.runtime.monotonicMs();
    if (this.openedMs === Infinity) this.#open(nowMs);
    if (this.openedMs !== Infinity && this.closedMs === Infinity) this.#close(nowMs);
  }

  close(): void {
    const nowMs = this.#options.runtime.monotonicMs();
    this.openedMs = Math.min(this.openedMs, nowMs);
    this.closedMs = Math.min(this.closedMs, nowMs);
  }

  /** A reply with success has come, to an operation that was due at `dueMs`. Within the window those count that were due in it: they have a latency. */
  replied(dueMs: number, nowMs: number): void {
    if (this.openedMs !== Infinity) {
      if (dueMs < this.openedMs) return;
      this.#replies += 1;
      this.#lastReplyMs = nowMs;
      return;
    }
    const slice = Math.floor((nowMs - this.startMs) / this.#sliceMs);
    this.#warmupReplies[slice] = (this.#warmupReplies[slice] ?? 0) + 1;
  }

  #open(nowMs: number): void {
    const { leastMs, mostMs } = this.#options.warmup;
    for (; ; this.#slicesSeen += 1) {
      const atMs = this.#opensAtMs ?? this.startMs + this.#slicesSeen * this.#sliceMs;
      if (atMs > nowMs) return;
      this.isSteady = isSteady(this.#repliesIn(Math.floor((atMs - this.startMs) / this.#sliceMs)));
      const warmMs = atMs - this.startMs;
      const isWarm = this.#opensAtMs !== undefined || (this.isSteady && warmMs >= leastMs) || warmMs >= mostMs;
      if (!isWarm) continue;
      this.openedMs = atMs;
      return;
    }
  }

  #repliesIn(slices: number): number[] {
    return Array.from({ length: slices }, (_, slice) => this.#warmupReplies[slice] ?? 0);
  }

  #close(nowMs: number): void {
    const { durationMs, callers, ratePerSecond } = this.#options;
    const isOpenLoop = ratePerSecond !== null;
    for (const { factor, repliesPerCaller } of GROWTH) {
      const dueMs = this.openedMs + durationMs * factor;
      if (nowMs < dueMs) return;
      if (!isOpenLoop && this.#replies / callers < repliesPerCaller) continue;
      // A reply that came later than the window's length is one that it was prolonged for.
      this.closedMs = isOpenLoop ? dueMs : Math.max(dueMs, this.#lastReplyMs);
      return;
    }
  }
}
