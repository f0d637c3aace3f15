// A clock, timers and chance that a test drives. Real I/O beneath would break it.
import { seededRandom } from '../../shared/lab/kit/random.ts';
import { ScheduledRuntime, Scheduler } from '../../shared/lab/kit/virtual-time.ts';
import { loadHash } from '../../shared/store/system/hash.ts';

// No virtual time passes while WebAssembly compiles.
await loadHash();

export class VirtualRuntime extends ScheduledRuntime {
  readonly #scheduler: Scheduler;
  #wallOffsetMs = 0;
  /** Turns of the event loop that work has asked for. */
  turns = 0;
  /** Sleeps under way: each keeps a process alive. */
  sleepers = 0;
  /** `busyShare` answers this, 0 to 1: no processor time passes by itself. */
  share = 0;

  constructor(seed = 1) {
    const scheduler = new Scheduler(seed);
    super(scheduler, seededRandom(seed));
    this.#scheduler = scheduler;
  }

  override wallMs(): number {
    return super.wallMs() + this.#wallOffsetMs;
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleepers += 1;
    return this.watch(ms, signal).finally(() => (this.sleepers -= 1));
  }

  /** No time passes, and nothing but the work itself runs: what else was due has run before. */
  override nextTurn(): Promise<void> {
    this.turns += 1;
    return super.nextTurn();
  }

  override busyShare(): number {
    return this.share;
  }

  /** The wall clock jumps, as when it is set, or after a suspend of the monotonic clock. */
  jumpWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** Lets `ms` pass: timers fire in order, and whatever they set off runs as far as it can. */
  async advance(ms: number): Promise<void> {
    await quiet();
    await this.#scheduler.pass(ms);
  }

  /** Lets time pass until the work ends. Throws if it waits for something that no timer brings. */
  async run<T>(work: Promise<T>): Promise<T> {
    await this.#scheduler.run(work, Infinity);
    return work;
  }
}

/** Resolves when everything that can run without time passing has run. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
