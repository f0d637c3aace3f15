// Moments and fresh ids. A count orders the events of this process, and two clocks measure their
// age.
import type { Moment, Runtime } from '../contract/runtime.ts';
import { tagged } from '../format/header.ts';
import { id64, type Id64, ID64_BYTES } from '../format/bytes.ts';

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

/** A random id for a container or an incarnation. */
export function drawId(runtime: Pick<Runtime, 'random'>): Id64 {
  return id64(runtime.random(ID64_BYTES));
}

/** A random id for an attempt. It begins with the tag of its process. */
export function drawAttempt(core: { readonly runtime: Pick<Runtime, 'random'>; readonly tag: string }): Id64 {
  return tagged(drawId(core.runtime), core.tag);
}
