// What calls cost, counted around the memory driver with Datastore's limits. Everything but the
// processor time is exact: the same seed gives the same counts on every machine.
import { LIMITS } from '../../drivers/datastore/mapping.ts';
import { type DriverCounters, measured } from '../../drivers/measured.ts';
import { type MemoryFaults, memoryDriver, memoryState } from '../../drivers/memory.ts';
import type { Driver } from '../../store/index.ts';
import { billableOf } from '../cost/billable.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../cost/operations.ts';
import { PRICES_2026_11 } from '../cost/prices-2026-11.ts';
import { sum } from '../kit/numbers.ts';
import { increase, sumOf } from '../kit/usage.ts';

/** In the order in which they are printed. Each is per call, but for `stored`. */
export const FIGURES = ['requests', 'reads', 'writes', 'read', 'written', 'stored', 'dollars', 'us'] as const;

/**
 * `reads` and `writes`: entities, as Datastore bills them. `read` and `written`: bytes. `stored`:
 * bytes per record of the table. `dollars`: the list price of a million calls. `us`: microseconds
 * of processor time. A row leaves out what it does not measure.
 */
export type Figures = Readonly<Partial<Record<(typeof FIGURES)[number], number>>>;

/** Stands between the counters and the store, so that a test can make the store worse. */
export type Between = (driver: Driver) => Driver;

const PRICES = operationPriceList(PRICES_2026_11).providers.datastore;

/** A database of its own. */
export class Counted {
  readonly #state = memoryState();
  readonly #measured;
  readonly driver: Driver;

  constructor({ between, faults }: { readonly between: Between | undefined; readonly faults?: MemoryFaults }) {
    this.#measured = measured(memoryDriver({ state: this.#state, limits: LIMITS, ...(faults && { faults }) }));
    this.driver = between?.(this.#measured.driver) ?? this.#measured.driver;
  }

  get entities(): number {
    return this.#state.entities.size;
  }

  stored(records: number): number {
    const parts = [...this.#state.entities.values()].flatMap((entity) => [...entity.parts.values()]);
    return sum(parts.map(({ byteLength }) => byteLength)) / records;
  }

  /** Makes rounds of calls, one call after another. What happens in `prepare` is not counted. */
  async count(rounds: number, prepare: () => Promise<readonly (() => Promise<unknown>)[]>): Promise<Figures> {
    const all: (DriverCounters & { calls: number; us: number })[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const calls = await prepare();
      const before = { ...this.#measured.counters };
      const begun = process.cpuUsage();
      for (const call of calls) await call();
      const { user, system } = process.cpuUsage(begun);
      all.push({ ...increase(before, { ...this.#measured.counters }), calls: calls.length, us: user + system });
    }
    const counters = sumOf(all);
    const { requests, billable } = billableOf('datastore', counters);
    const { calls } = counters;
    return {
      requests: requests / calls,
      reads: billable.reads / calls,
      writes: (billable.writes + billable.deletes) / calls,
      read: counters.bytesRead / calls,
      written: counters.bytesWritten / calls,
      dollars: dollarsPerMillionRecords(billable, calls, PRICES),
      us: counters.us / calls,
    };
  }
}
