// A store of known service times, in virtual time. Textbooks say how a load on it behaves.
import { ScheduledRuntime, Scheduler } from '../../shared/lab/kit/virtual-time.ts';
import { seededRandom } from '../../shared/lab/kit/random.ts';
import type { WindowOptions } from '../../shared/lab/load/window.ts';
import type { Unit } from '../../shared/lab/work/layout-clients.ts';
import type { Runtime } from '../../shared/store/index.ts';

/** A caller whose calls fail at once would never let time pass: a turn takes a millisecond. */
class LoadRuntime extends ScheduledRuntime {
  override nextTurn(): Promise<void> {
    return this.watch(1);
  }
}

/** Virtual time that a load runs in. Its wall clock has another zero. */
export class Clock {
  readonly #scheduler = new Scheduler(1);
  readonly wallStartMs = 1_700_000_000_000;
  readonly runtime: Runtime = new LoadRuntime(this.#scheduler, seededRandom(1));

  /** Lets time pass until the work ends. */
  async run<T>(work: Promise<T>): Promise<T> {
    await this.#scheduler.run(work, Infinity);
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
    ...options,
  };
}
