// A bound on work at a time. It makes no promise if there is room; p-limit makes seven a call.
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

  /** With a lower bound the work under way goes on. */
  set max(max: number) {
    this.#max = max;
    this.#admit();
  }

  /** How many work now, or were told that they may. */
  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Awaited before the work, which ends with `release`; undefined if there is room. */
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
