// The runtime of a store in virtual time: a scheduler's clock and timers, and chance of its own.
import type { Runtime } from '../../store/contract/runtime.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './virtual-time.ts';

const START_WALL_MS = 1_700_000_000_000;

/** Work takes no virtual time; only timers and replies let time pass. */
export class ScheduledRuntime implements Runtime {
  readonly #scheduler: Scheduler;
  readonly #random: Random;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  wallMs(): number {
    return Math.floor(START_WALL_MS + this.#scheduler.nowMs);
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.watch(ms, signal);
  }

  watch(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#scheduler.after(ms, undefined, signal);
  }

  nextTurn(): Promise<void> {
    return Promise.resolve();
  }

  busyShare(): number {
    return 0;
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256));
  }
}
