// The runtime of a store in a modelled instance: clocks, timers and chance of the run.
import type { Random } from '../../kit/random.ts';
import type { Runtime } from '../../../store/contract/runtime.ts';
import type { Scheduler } from '../../kit/scheduler.ts';
import { Processor } from './instance.ts';

const START_WALL_MS = 1_700_000_000_000;
/** A share of the processor's time is taken over at least so long. */
const SHARE_TAKEN_MS = 100;

export class InstanceRuntime implements Runtime {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #processor: Processor;
  readonly #sampled = { atMs: 0, busyMs: 0, share: 0 };

  /** `processor`: the instance's; default: one that nothing is charged to. */
  constructor(scheduler: Scheduler, random: Random, processor: Processor = new Processor(scheduler)) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.#processor = processor;
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

  /** Work takes no time by itself, the processor's table says how much: no turn is ever long. */
  nextTurn(): Promise<void> {
    return Promise.resolve();
  }

  busyShare(): number {
    const sampled = this.#sampled;
    const tookMs = this.#scheduler.nowMs - sampled.atMs;
    if (tookMs >= SHARE_TAKEN_MS) {
      const { busyMs } = this.#processor;
      sampled.share = (busyMs - sampled.busyMs) / tookMs;
      sampled.atMs = this.#scheduler.nowMs;
      sampled.busyMs = busyMs;
    }
    return sampled.share;
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => Math.floor(this.#random() * 256));
  }
}

/** A caller whose calls fail at once would never let time pass: a turn takes a millisecond. */
export class LoadRuntime extends InstanceRuntime {
  override nextTurn(): Promise<void> {
    return this.watch(1);
  }
}
