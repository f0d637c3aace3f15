// Moments: a count orders the events of this process, and two clocks measure their age.
import type { Moment, Runtime } from '../contract/runtime.ts';

export class Clock {
  readonly #runtime: Runtime;
  #tick = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The present moment. Its tick is larger than that of every earlier one. */
  now(): Moment {
    this.#tick += 1;
    return { tick: this.#tick, wallMs: this.#runtime.wallMs(), monotonicMs: this.#runtime.monotonicMs() };
  }

  ageMs(moment: Moment): number {
    return ageAt(moment, { wallMs: this.#runtime.wallMs(), monotonicMs: this.#runtime.monotonicMs() });
  }
}

/** The larger of the ages that the two clocks show; Infinity if one of them ran backwards. */
export function ageAt(moment: Moment, now: Omit<Moment, 'tick'>): number {
  const wallMs = now.wallMs - moment.wallMs;
  const monotonicMs = now.monotonicMs - moment.monotonicMs;
  return wallMs < 0 || monotonicMs < 0 ? Infinity : Math.max(wallMs, monotonicMs);
}
