// Counters and processor time between a window's opening and its closing.
import { increase } from '../../kit/usage.ts';
import type { Fleet } from '../instance/fleet.ts';
import type { ServiceCounters } from '../service/counters.ts';
import type { WindowListener } from './budget.ts';

export class Spent implements WindowListener {
  readonly #counters: ServiceCounters;
  readonly #fleet: Fleet;
  readonly #stores: { readonly splits: number };
  #before: ServiceCounters | undefined;
  #busyBeforeMs: readonly number[] = [];
  #splitsBefore = 0;
  #counted: ServiceCounters | undefined;
  /** Milliseconds that each instance's processor worked. */
  busyMs: readonly number[] = [];
  splits = 0;

  constructor(counters: ServiceCounters, fleet: Fleet, stores: { readonly splits: number }) {
    this.#counters = counters;
    this.#fleet = fleet;
    this.#stores = stores;
  }

  /** The service's counts within the window. Throws if it was not closed. */
  get counters(): ServiceCounters {
    if (this.#counted === undefined) throw new Error('the window was never closed');
    return this.#counted;
  }

  readonly opened = (): void => {
    this.#before = structuredClone(this.#counters);
    this.#busyBeforeMs = this.#busy();
    this.#splitsBefore = this.#stores.splits;
  };

  readonly closed = (): void => {
    this.#counted = increase(this.#before!, this.#counters);
    this.busyMs = this.#busy().map((ms, at) => ms - (this.#busyBeforeMs[at] ?? 0));
    this.splits = this.#stores.splits - this.#splitsBefore;
  };

  #busy(): number[] {
    return this.#fleet.instances.map(({ processor }) => processor.busyMs);
  }
}
