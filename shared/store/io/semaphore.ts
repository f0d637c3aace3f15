// A bound on work at a time. It makes no promise if there is room; p-limit makes seven a call.
export class Semaphore {
  readonly #max: number;
  #active = 0;
  readonly #line: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** How many work now, or were told that they may. */
  get active(): number {
    return this.#active;
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
    const next = this.#line.shift();
    if (next === undefined) this.#active -= 1;
    else next();
  }
}
