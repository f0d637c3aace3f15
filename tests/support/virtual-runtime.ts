// A clock, timers and chance that a test drives. Real I/O beneath would break it.
import { seededRandom } from '../../shared/lab/kit/random.ts';
import type { Runtime } from '../../shared/store/contract/runtime.ts';
import { loadHash } from '../../shared/store/system/hash.ts';

// No virtual time passes while WebAssembly compiles.
await loadHash();

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

const START_WALL_MS = 1_700_000_000_000;

export class VirtualRuntime implements Runtime {
  readonly #draw: () => number;
  readonly #timers = new Set<Timer>();
  #nowMs = 0;
  #wallOffsetMs = START_WALL_MS;
  /** Turns of the event loop that work has asked for. */
  turns = 0;
  /** Sleeps under way: each keeps a process alive. */
  sleepers = 0;
  /** `busyShare` answers this, 0 to 1: no processor time passes by itself. */
  share = 0;

  constructor(seed = 1) {
    this.#draw = seededRandom(seed);
  }

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleepers += 1;
    return this.watch(ms, signal).finally(() => (this.sleepers -= 1));
  }

  watch(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted === true) return Promise.resolve();
    const timer: Timer = { dueMs: this.#nowMs + Math.max(0, ms), fire: resolve };
    this.#timers.add(timer);
    signal?.addEventListener('abort', () => {
      this.#timers.delete(timer);
      resolve();
    });
    return promise;
  }

  /** No time passes, and nothing but the work itself runs: what else was due has run before. */
  nextTurn(): Promise<void> {
    this.turns += 1;
    return Promise.resolve();
  }

  busyShare(): number {
    return this.share;
  }

  random(bytes: number): Uint8Array {
    return Uint8Array.from({ length: bytes }, () => Math.floor(this.#draw() * 256));
  }

  /** The wall clock jumps, as when it is set, or after a suspend of the monotonic clock. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Lets `ms` pass: timers fire in order, and whatever they set off runs as far as it can. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await quiet();
    for (let next = this.#next(); next !== undefined && next.dueMs <= untilMs; next = this.#next()) {
      this.#fire(next);
      await quiet();
    }
    this.#nowMs = untilMs;
  }

  /** Lets time pass until the work ends. Throws if it waits for something that no timer brings. */
  async run<T>(work: Promise<T>): Promise<T> {
    const progress = { isDone: false };
    void Promise.allSettled([work]).then(() => {
      progress.isDone = true;
    });
    for (await quiet(); !progress.isDone; await quiet()) {
      const next = this.#next();
      if (next === undefined) throw new Error('stuck: the work waits, and no timer is set');
      this.#fire(next);
    }
    return work;
  }

  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (first === undefined || timer.dueMs < first.dueMs) first = timer;
    return first;
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer);
    this.#nowMs = Math.max(this.#nowMs, timer.dueMs);
    timer.fire();
  }
}

/** Resolves when everything that can run without time passing has run. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
