// How fast a process sends after requests were turned away as too much: as fast as others were
// taken, and a little faster after each time without a refusal.
import type { Runtime } from '../contract/runtime.ts';

/** Replies are judged together over so long, and so many of them, at least. */
const JUDGED_MS = 250;
const JUDGED_REPLIES = 16;
/** Spread over a longer time they came before and after a rest. */
const JUDGED_MOST_MS = 2_000;
/** The share and, for slow processes to catch up, the constant that a pace grows by. */
const GROWTH = 1.02;
const GROWTH_PER_MS = 0.008;
/** A pace never falls below this: 50 requests a second. */
const LEAST_PER_MS = 0.05;
/** A pace that is so many times what is sent holds nothing up, and ends. */
const IDLE_RATIO = 2;

export class Pace {
  readonly #runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>;
  #mostPerMs = Infinity;
  /** When the next request may leave. */
  #nextMs = 0;
  #begunMs = 0;
  #taken = 0;
  #refused = 0;

  constructor(runtime: Pick<Runtime, 'monotonicMs' | 'sleep'>) {
    this.#runtime = runtime;
  }

  /** Until the next request may leave; undefined: at once. */
  turn(): Promise<void> | undefined {
    if (this.#mostPerMs === Infinity) return undefined;
    const nowMs = this.#runtime.monotonicMs();
    const leavesMs = Math.max(nowMs, this.#nextMs);
    this.#nextMs = leavesMs + 1 / this.#mostPerMs;
    return leavesMs > nowMs ? this.#runtime.sleep(leavesMs - nowMs) : undefined;
  }

  /** A request was answered. */
  note(isRefused: boolean): void {
    if (isRefused) this.#refused += 1;
    else this.#taken += 1;
    const nowMs = this.#runtime.monotonicMs();
    const tookMs = nowMs - this.#begunMs;
    if (tookMs < JUDGED_MS || this.#taken + this.#refused < JUDGED_REPLIES) return;
    if (tookMs < JUDGED_MOST_MS) this.#judge(this.#taken / tookMs);
    this.#begunMs = nowMs;
    this.#taken = 0;
    this.#refused = 0;
  }

  #judge(takenPerMs: number): void {
    if (this.#refused > 0) this.#mostPerMs = Math.max(LEAST_PER_MS, takenPerMs);
    else if (this.#mostPerMs > IDLE_RATIO * takenPerMs) this.#mostPerMs = Infinity;
    else this.#mostPerMs = GROWTH * this.#mostPerMs + GROWTH_PER_MS;
  }
}
