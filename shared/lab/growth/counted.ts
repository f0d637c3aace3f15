// What calls cost, counted around the memory driver with Datastore's limits. Everything but the
// processor time is exact: the same seed gives the same counts on every machine.
import { LIMITS } from '../../drivers/datastore/entity-mapping.ts';
import { type DriverCounters, measured } from '../../drivers/measured.ts';
import { memoryDriver, memoryState } from '../../drivers/memory.ts';
import type { Driver } from '../../store/index.ts';
import { loadHash } from '../../store/system/hash.ts';
import { billableOf } from '../cost/billable.ts';
import { dollarsPerMillionRecords, operationPriceList } from '../cost/operation-prices.ts';
import { PRICES_2026_11 } from '../cost/prices-2026-11.ts';
import { sum } from '../kit/numbers.ts';
import { seededRandom } from '../kit/random.ts';
import { ScheduledRuntime } from '../kit/scheduled-runtime.ts';
import { Scheduler } from '../kit/virtual-time.ts';
import { increase, sumOf } from '../kit/provider-usage.ts';

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

const STEPS_MAX = 10_000_000;

/** A database of its own, in virtual time: real turns of the event loop would change the counts. */
export class Counted {
  readonly #state = memoryState();
  readonly #scheduler = new Scheduler(1);
  readonly #measured;
  readonly runtime = new ScheduledRuntime(this.#scheduler, seededRandom(1));
  readonly driver: Driver;

  /** A request takes `requestMs`. */
  constructor(between: Between = (driver) => driver, requestMs = 0) {
    const faults = () => this.runtime.sleep(requestMs).then(() => undefined);
    const options = { state: this.#state, limits: LIMITS, ...(requestMs > 0 && { faults }) };
    this.#measured = measured(memoryDriver(options));
    this.driver = between(this.#measured.driver);
  }

  get nowMs(): number {
    return this.#scheduler.nowMs;
  }

  get entities(): number {
    return this.#state.entities.size;
  }

  stored(records: number): number {
    const parts = [...this.#state.entities.values()].flatMap((entity) => [...entity.parts.values()]);
    return sum(parts.map(({ byteLength }) => byteLength)) / records;
  }

  async play<T>(work: () => Promise<T>): Promise<T> {
    // No virtual time passes while WebAssembly compiles.
    await loadHash();
    const playing = work();
    await this.#scheduler.run(playing, STEPS_MAX);
    return playing;
  }

  /** Makes rounds of calls, one call after another. What happens in `prepare` is not counted. */
  async count(rounds: number, prepare: () => Promise<readonly (() => Promise<unknown>)[]>): Promise<Figures> {
    const all: (DriverCounters & { calls: number; us: number })[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const calls = await this.play(prepare);
      const before = { ...this.#measured.counters };
      const begun = process.cpuUsage();
      await this.play(async () => {
        for (const call of calls) await call();
      });
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
