// Work that takes long without waiting for anything ends its turn of the event loop from time to time: else no timer, reply or signal of the
// whole process would be heard, and the work's own deadline neither.
import type { Runtime } from '../contract/runtime.ts';

/** A turn ends when it has taken this long: far above what ending it costs (some microseconds), far below what a caller notices. */
const TURN_MS = 10;

export class Turns {
  readonly #runtime: Runtime;
  #begunMs = 0;
  /** Resolves when the present turn has ended; undefined if nobody has asked in it. */
  #next: Promise<void> | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Whether the present turn has lasted long: then long work awaits `pause` before its next piece. */
  get isLong(): boolean {
    const nowMs = this.#runtime.monotonicMs();
    if (this.#next !== undefined) return nowMs - this.#begunMs >= TURN_MS;
    this.#begunMs = nowMs;
    this.#next = this.#runtime.nextTurn().then(() => {
      this.#next = undefined;
    });
    return false;
  }

  /** Resolves in a turn that has time left: of those that wait together, the first may take the whole of the next one. */
  async pause(): Promise<void> {
    while (this.isLong) await this.#next;
  }

  /** Calls `work` for each item, in turns. */
  async forEach<T>(items: readonly T[], work: (item: T, index: number) => void): Promise<void> {
    for (const [index, item] of items.entries()) {
      if (index > 0 && this.isLong) await this.pause();
      work(item, index);
    }
  }

  /** What `work` makes of each item, in turns. */
  async map<T, R>(items: readonly T[], work: (item: T, index: number) => R): Promise<R[]> {
    const made: R[] = [];
    await this.forEach(items, (item, index) => {
      made.push(work(item, index));
    });
    return made;
  }
}
