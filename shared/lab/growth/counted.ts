// What calls cost, in a table of containers and with an entity per record, counted around the
// memory driver with Datastore's limits. Everything but the processor time is exact: the same seed
// gives the same counts on every machine.
import { LIMITS } from '../../drivers/datastore/entity-mapping.ts';
import { type DriverCounters, measured } from '../../drivers/measured.ts';
import { memoryDriver, memoryState } from '../../drivers/memory.ts';
import {
  type Driver,
  type EntityId,
  type EntityVersion,
  openStore,
  type PartName,
  type Runtime,
} from '../../store/index.ts';
import { loadHash } from '../../store/system/hash.ts';
import { billableOf, dollarsPerMillionRecords, operationPriceList } from '../cost/prices.ts';
import { PRICES_2026_11 } from '../cost/prices-2026-11.ts';
import { chunks, sum } from '../kit/numbers.ts';
import { seededRandom } from '../kit/random.ts';
import { ScheduledRuntime, Scheduler } from '../kit/virtual-time.ts';
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

export interface Item {
  readonly key: string;
  readonly value: string;
}

/** Opens the table as a new process, whose memory holds nothing of it. */
export type Open = (place: { readonly driver: Driver; readonly runtime: Runtime }) => Promise<Layout>;

export interface Layout {
  readonly get: (key: string) => Promise<unknown>;
  readonly getMany: (keys: readonly string[]) => Promise<unknown>;
  /** Takes the keys of the records, which follow each other. */
  readonly scan: (keys: readonly string[]) => Promise<unknown>;
  readonly firstKey: (first: string) => Promise<unknown>;
  readonly put: (item: Item) => Promise<unknown>;
  readonly putMany: (items: readonly Item[]) => Promise<unknown>;
  /** Undefined where the driver's contract has no call for it. */
  readonly count: (() => Promise<unknown>) | undefined;
}

export const packed: Open = async (place) => {
  const table = await openStore(place).table<string>('growth', { order: 'key' });
  return {
    get: (key) => table.get(key),
    getMany: (keys) => table.getMany(keys),
    scan: ([from, ...others]) => Array.fromAsync(table.scan({ from: from!, limit: 1 + others.length })),
    firstKey: () => Array.fromAsync(table.keys({ limit: 1 })),
    put: ({ key, value }) => table.put(key, value),
    putMany: (items) => table.putMany(items),
    count: () => table.count(),
  };
};

const TIMEOUT = { timeoutMs: 30_000 };
const PART = 'p0' as PartName;

/**
 * It knows all versions, so that its put takes one request, as one without a condition does. A scan
 * counts as one request, as a query does.
 */
export const plain: Open = async ({ driver }) => {
  const versions = new Map<string, EntityVersion>();
  const { readsMax, writesMax, writeBytesMax } = driver.limits;
  const getMany = async (keys: readonly string[]): Promise<void> => {
    for (const some of chunks([...new Set(keys)] as EntityId[], readsMax)) {
      const entities = await driver.read(
        some.map((id) => ({ id, parts: 'all' })),
        TIMEOUT,
      );
      for (const entity of entities) Buffer.from(entity!.parts.get(PART)!).toString();
    }
  };
  const writeOf = ({ key, value }: Item) => {
    const version = versions.get(key);
    const [id, chunksBefore] = [key as EntityId, version === undefined ? 0 : 1];
    const parts = [{ name: PART, bytes: Buffer.from(value), chunksBefore }];
    return version === undefined
      ? ({ kind: 'insert', id, parts } as const)
      : ({ kind: 'replace', id, version, parts } as const);
  };
  const putMany = async (items: readonly Item[]): Promise<void> => {
    for (const some of chunks(items, Math.min(writesMax, Math.floor(writeBytesMax / items[0]!.value.length)))) {
      const outcomes = await driver.write(some.map(writeOf), TIMEOUT);
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.kind !== 'written') throw new Error('an entity was not written', { cause: outcome });
        versions.set(some[at]!.key, outcome.version);
      }
    }
  };
  return {
    get: (key) => getMany([key]),
    getMany,
    scan: getMany,
    firstKey: (first) => driver.read([{ id: first as EntityId, parts: [] }], TIMEOUT),
    put: (item) => putMany([item]),
    putMany,
    count: undefined,
  };
};
