// How many may work at a time. The others wait in line, first come, first served. Counting takes one promise of those who wait and none of those who
// do not, where p-limit takes seven a call: every commit passes two of these.
export class Semaphore {
  #max: number;
  #active = 0;
  readonly #line: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** How many may work at a time. */
  get max(): number {
    return this.#max;
  }

  /** Where fewer may than do, those who do go on. */
  set max(max: number) {
    this.#max = max;
    this.#admit();
  }

  /** How many work now, or were told that they may. */
  get active(): number {
    return this.#active;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#line.length;
  }

  /** To be awaited before the work, and followed by one `release`; undefined where nobody has to wait. */
  acquire(): Promise<void> | undefined {
    if (this.#active < this.#max) {
      this.#active += 1;
      return undefined;
    }
    return new Promise((resolve) => this.#line.push(resolve));
  }

  release(): void {
    this.#active -= 1;
    this.#admit();
  }

  #admit(): void {
    while (this.#active < this.#max && this.#line.length > 0) {
      this.#active += 1;
      this.#line.shift()?.();
    }
  }
}
