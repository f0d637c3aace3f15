// The window opens when the load is steady, and closes after its length. Nothing here waits.
import { sum } from '../kit/numbers.ts';
import type { CellRequest, Steadiness } from './cell.ts';

export interface PhasesOptions extends Pick<
  CellRequest,
  'callers' | 'ratePerSecond' | 'durationMs' | 'warmup' | 'windowAtMs'
> {
  /** The store's, as far as it tells the time. */
  readonly runtime: { monotonicMs(): number; wallMs(): number };
}

/** A closed loop's window is made long enough for so many replies to each caller. */
const REPLIES_PER_CALLER = 2;

/** No window is longer than its wanted length times this. */
export const WINDOW_GROWTH_MAX = 2;

/** The longest wait for operations that are in flight when the window closes. */
export const DRAIN_MS = 10_000;

/** All times in milliseconds of the runtime's monotonic clock. */
export class Phases {
  readonly startMs: number;
  /** When the window opened; Infinity until then. */
  openedMs = Infinity;
  closedMs = Infinity;
  steadiness: Steadiness = 'not known';
  readonly #options: PhasesOptions;
  readonly #sliceMs: number;
  /** By this instance's clock; undefined if it opens when the load is warm. */
  readonly #opensAtMs: number | undefined;
  readonly #warmupReplies: number[] = [];
  #lengthMs: number;
  #slicesSeen = 0;

  constructor(options: PhasesOptions) {
    const { warmup, windowAtMs, runtime } = options;
    this.#options = options;
    this.#lengthMs = options.durationMs;
    this.startMs = runtime.monotonicMs();
    this.#sliceMs = Math.max(1, (warmup.leastMs > 0 ? warmup.leastMs : warmup.mostMs) / SLICES_LEAST);
    if (windowAtMs !== null) this.#opensAtMs = Math.max(this.startMs, this.startMs + windowAtMs - runtime.wallMs());
  }

  /** The longest time between two calls of `update`. */
  get tickMs(): number {
    const windowTickMs = Math.max(1, this.#options.durationMs / 20);
    return this.openedMs === Infinity ? Math.min(this.#sliceMs, windowTickMs) : windowTickMs;
  }

  /** Opens or closes the window if that is due. Call it before each call, and for each reply. */
  update(): void {
    const nowMs = this.#options.runtime.monotonicMs();
    if (this.openedMs === Infinity) this.#open(nowMs);
    if (this.closedMs === Infinity && nowMs >= this.closesMs) this.closedMs = this.closesMs;
  }

  /** When the window closes, or did; Infinity until it opens. */
  get closesMs(): number {
    return Math.min(this.closedMs, this.openedMs + this.#lengthMs);
  }

  close(): void {
    const nowMs = this.#options.runtime.monotonicMs();
    this.openedMs = Math.min(this.openedMs, nowMs);
    this.closedMs = Math.min(this.closedMs, nowMs);
  }

  /** Counts a successful reply of the warm-up; the window itself ends by the clock alone. */
  replied(nowMs: number): void {
    if (this.openedMs !== Infinity) return;
    const slice = Math.floor((nowMs - this.startMs) / this.#sliceMs);
    this.#warmupReplies[slice] = (this.#warmupReplies[slice] ?? 0) + 1;
  }

  #open(nowMs: number): void {
    const { leastMs, mostMs } = this.#options.warmup;
    for (; ; this.#slicesSeen += 1) {
      const atMs = this.#opensAtMs ?? this.startMs + this.#slicesSeen * this.#sliceMs;
      if (atMs > nowMs) return;
      const warmMs = atMs - this.startMs;
      const replies = this.#repliesIn(Math.floor(warmMs / this.#sliceMs));
      this.steadiness = steadiness(replies);
      const isSteady = this.steadiness === 'steady' && warmMs >= leastMs;
      if (this.#opensAtMs === undefined && !isSteady && warmMs < mostMs) continue;
      this.openedMs = atMs;
      this.#lengthMs = this.#options.durationMs * this.#growth(warmMs);
      return;
    }
  }

  #repliesIn(slices: number): number[] {
    return Array.from({ length: slices }, (_, slice) => this.#warmupReplies[slice] ?? 0);
  }

  /** Decided as the window opens: one that ended with a reply would give too high a rate. */
  #growth(warmMs: number): number {
    const { durationMs, callers, ratePerSecond } = this.#options;
    if (ratePerSecond !== null || warmMs === 0) return 1;
    const lengths = (REPLIES_PER_CALLER * callers * warmMs) / sum(this.#warmupReplies) / durationMs;
    return Math.min(WINDOW_GROWTH_MAX, Math.max(1, Math.ceil(lengths)));
  }
}

/** At least so many of the last time slices are compared with as many before them. */
const SLICES = 3;

/** A warm-up that lasts its shortest time is cut into two such groups. */
const SLICES_LEAST = 2 * SLICES;

/** The last slices together may differ by so much from those before. */
const TOLERANCE = 0.1;

/** With so many replies, nine of ten loads that double are recognized; with half, one of two. */
const REPLIES_NEEDED = 100;

/** Whether the last slices differ from those before by a tenth at most, or as by chance. */
export function steadiness(repliesBySlice: readonly number[]): Steadiness {
  for (let slices = SLICES; 2 * slices <= repliesBySlice.length; slices += 1) {
    const late = sum(repliesBySlice.slice(-slices));
    const early = sum(repliesBySlice.slice(-2 * slices, -slices));
    if (early + late < REPLIES_NEEDED) continue;
    const mayDiffer = Math.max(TOLERANCE * early, 2 * Math.sqrt(early + late));
    return Math.abs(late - early) <= mayDiffer ? 'steady' : 'unsteady';
  }
  return 'not known';
}
