// A store of known service times, in virtual time. Textbooks say how a load on it behaves.
import type { WindowOptions } from '../../shared/lab/load/window.ts';
import type { Unit } from '../../shared/lab/work/layout-clients.ts';
import type { Runtime } from '../../shared/store/index.ts';
import { quiet } from '../support/virtual-runtime.ts';

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** A clock that jumps from timer to timer while work goes on. Its wall clock has another zero. */
export class Clock {
  #nowMs = 0;
  readonly #timers: Timer[] = [];
  readonly wallStartMs = 1_700_000_000_000;
  readonly runtime: Runtime;

  constructor() {
    const watch = (ms: number, signal?: AbortSignal): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const fire = (): void => {
        signal?.removeEventListener('abort', fire);
        resolve();
      };
      this.#timers.push({ dueMs: this.#nowMs + Math.max(0, ms), fire });
      signal?.addEventListener('abort', fire);
      return promise;
    };
    this.runtime = {
      wallMs: () => this.wallStartMs + this.#nowMs,
      monotonicMs: () => this.#nowMs,
      sleep: watch,
      watch,
      nextTurn: () => watch(1),
      busyShare: () => 0,
      random: () => new Uint8Array(),
    };
  }

  /** Lets time pass until the work ends. */
  async run<T>(work: Promise<T>): Promise<T> {
    const progress = { isDone: false };
    void Promise.allSettled([work]).then(() => {
      progress.isDone = true;
    });
    for (await quiet(); !progress.isDone; await quiet()) {
      let next = 0;
      for (const [at, timer] of this.#timers.entries()) if (timer.dueMs < this.#timers[next]!.dueMs) next = at;
      const [timer] = this.#timers.splice(next, 1);
      if (timer === undefined) throw new Error('stuck: the work waits, and no timer is set');
      this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
      timer.fire();
    }
    return await work;
  }
}

/** Answers one unit a server at a time; others queue in order. */
export class FakeStore {
  readonly #clock: Clock;
  readonly #servers: number;
  readonly #serviceMs: () => number;
  readonly #queue: (() => void)[] = [];
  #busy = 0;

  constructor(clock: Clock, servers: number, serviceMs: () => number) {
    this.#clock = clock;
    this.#servers = servers;
    this.#serviceMs = serviceMs;
  }

  unit(records = 1): Unit {
    return {
      records,
      send: async () => {
        if (this.#busy === this.#servers) await new Promise<void>((resolve) => this.#queue.push(resolve));
        else this.#busy += 1;
        await this.#clock.runtime.sleep(this.#serviceMs());
        const next = this.#queue.shift();
        if (next === undefined) this.#busy -= 1;
        else next();
        return [];
      },
    };
  }
}

/** A window on this clock: one caller, one second. */
export function windowOptions(clock: Clock, options: Partial<WindowOptions>): WindowOptions {
  return {
    callers: 1,
    ratePerSecond: null,
    arrivals: 'equidistant',
    drawSeed: 1,
    part: { index: 0, count: 1 },
    durationMs: 1_000,
    warmup: { leastMs: 200, mostMs: 1_000 },
    windowAtMs: null,
    drainMs: 10_000,
    signal: new AbortController().signal,
    runtime: clock.runtime,
    ramp: undefined,
    ...options,
  };
}
