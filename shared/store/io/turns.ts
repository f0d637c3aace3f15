// Long work yields to the event loop. Otherwise no timer, signal or deadline would be noticed.
import type { Runtime } from '../contract/runtime.ts';

/** How long a turn may take. Yielding costs microseconds; callers would notice a longer delay. */
const TURN_MS = 10;
/** How many pieces of work, some microseconds each, are done per reading of the clock. */
const PIECES_BETWEEN_LOOKS = 16;
/** Encoding or decoding a value of this size is worth a reading of the clock of its own. */
const LARGE_BYTES = 1_024;
/** How many items are sorted at once, which takes some milliseconds. */
const SORTED_AT_ONCE = 5_000;

export class Turns {
  readonly #runtime: Runtime;
  #begunMs = 0;
  /** Resolves when the present turn has ended; undefined until `isLong` is first asked in it. */
  #next: Promise<void> | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Whether 10 ms have passed since the turn's first call of this: then await `pause`. */
  get isLong(): boolean {
    const nowMs = this.#runtime.monotonicMs();
    if (this.#next !== undefined) return nowMs - this.#begunMs >= TURN_MS;
    this.#begunMs = nowMs;
    this.#next = this.#runtime.nextTurn().then(() => {
      this.#next = undefined;
    });
    return false;
  }

  /** As `isLong`, but reads the clock only at every 16th piece or if the piece has many `bytes`. */
  isLongAt(index: number, bytes = 0): boolean {
    return (bytes >= LARGE_BYTES || index % PIECES_BETWEEN_LOOKS === 1) && this.isLong;
  }

  /** Resolves in a turn that has time left. Of several that wait, the first may use all of it. */
  async pause(): Promise<void> {
    while (this.isLong) await this.#next;
  }

  async forEach<T>(items: readonly T[], work: (item: T, index: number) => void): Promise<void> {
    for (let index = 0; index < items.length; index += 1) {
      if (this.isLongAt(index)) await this.pause();
      work(items[index]!, index);
    }
  }

  async map<T, R>(items: readonly T[], work: (item: T, index: number) => R): Promise<R[]> {
    const made: R[] = [];
    await this.forEach(items, (item, index) => {
      made.push(work(item, index));
    });
    return made;
  }

  /** Returns a sorted copy, yielding in between: it sorts runs, then merges them. Not stable. */
  async sort<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
    if (items.length <= SORTED_AT_ONCE) return items.slice().sort(compare);
    const runs: T[][] = [];
    for (let first = 0; first < items.length; first += SORTED_AT_ONCE) {
      if (first > 0 && this.isLong) await this.pause();
      runs.push(items.slice(first, first + SORTED_AT_ONCE).sort(compare));
    }
    while (runs.length > 1) {
      const [left = [], right = []] = runs.splice(0, 2);
      runs.push(await this.#merge(left, right, compare));
    }
    return runs[0]!;
  }

  async #merge<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
    const merged: T[] = [];
    let next = 0;
    await this.forEach(left, (one) => {
      while (next < right.length && compare(right[next]!, one) < 0) merged.push(right[next++]!);
      merged.push(one);
    });
    return merged.concat(right.slice(next));
  }
}
