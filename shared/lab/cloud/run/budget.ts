// A window ends by time or by operations, whichever is first: a plan takes minutes.
import type { WindowPhases } from '../../load/phases.ts';
import type { Scheduler } from '../../kit/scheduler.ts';

/** When warm-up and window end: by virtual time or by operations, whichever is first. */
export interface Budget {
  readonly warmupMs: number;
  readonly warmupOperationsMax: number;
  readonly windowMs: number;
  readonly operationsMax: number;
}

export class BudgetPhases<Mark> implements WindowPhases {
  readonly startMs: number;
  openedMs = Infinity;
  closedMs = Infinity;
  /** Nobody looked. */
  readonly steadiness = 'not known';
  readonly #scheduler: Scheduler;
  readonly #budget: Budget;
  readonly #mark: () => Mark;
  #operations = 0;
  /** Taken as the window opened, and as it closed. */
  readonly marks: Mark[] = [];

  constructor(scheduler: Scheduler, budget: Budget, mark: () => Mark) {
    this.#scheduler = scheduler;
    this.#budget = budget;
    this.#mark = mark;
    this.startMs = scheduler.nowMs;
  }

  /** Until the warm-up or the window ends by time. */
  get tickMs(): number {
    return this.#endMs - this.#scheduler.nowMs;
  }

  get #isOpen(): boolean {
    return this.openedMs < Infinity && this.closedMs === Infinity;
  }

  look(): void {
    if (this.closedMs === Infinity && this.#scheduler.nowMs >= this.#endMs) this.#next();
  }

  close(): void {
    while (this.closedMs === Infinity) this.#next();
  }

  replied(): void {
    if (this.closedMs < Infinity) return;
    const { warmupOperationsMax, operationsMax } = this.#budget;
    this.#operations += 1;
    if (this.#operations >= (this.#isOpen ? operationsMax : warmupOperationsMax)) this.#next();
  }

  get #endMs(): number {
    const { warmupMs, windowMs } = this.#budget;
    return this.#isOpen ? this.openedMs + windowMs : this.startMs + warmupMs;
  }

  #next(): void {
    const { nowMs } = this.#scheduler;
    this.#operations = 0;
    if (this.#isOpen) this.closedMs = nowMs;
    else this.openedMs = nowMs;
    this.marks.push(this.#mark());
  }
}
