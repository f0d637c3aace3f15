// Plays a row in virtual time: processes with callers in a closed loop, at one table in a slow
// cloud, as single entities or in containers. The same seed gives the same run.
import { memoryDriver, type MemoryCall, type MemoryFault } from '../../drivers/memory.ts';
import { memoryState } from '../../drivers/memory/effects.ts';
import { measured, type DriverCounters } from '../../drivers/measured.ts';
import type { SlowProfile } from '../../drivers/slow/profiles.ts';
import { SlowCloud, type SlowRequest } from '../../drivers/slow/slow-cloud.ts';
import { partBytes } from '../../store/contract/driver.ts';
import { type Driver, type DriverLimits, openStore, type Store, type Table } from '../../store/index.ts';
import { loadHash } from '../../store/system/hash.ts';
import { randomInt, type Random, seededRandom } from '../kit/random.ts';
import { ScheduledRuntime, Scheduler } from '../kit/virtual-time.ts';
import { keyIndexes } from '../work/distributions.ts';
import type { Row } from './scale-rows.ts';

/** One entity per record: `plain` writes without a condition, `conditional` reads it first. */
export type Layout = 'plain' | 'conditional' | 'container';

export interface Played {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Per operation: requests, entities read and written as billed, refused commits. */
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly conflicts: number;
  /** Entities at the end. */
  readonly entities: number;
  /** Calls of the slowest caller, as a share of the mean. */
  readonly slowestCaller: number;
}

/** The time before the window, in which a table may find its shape, and the window. */
export interface Times {
  readonly warmUpMs: number;
  readonly windowMs: number;
}

const RECORD_BYTES = 300;
const STEPS_MAX = 1_000_000_000;
const TABLE = 'scale';

export interface Cell {
  readonly row: Row;
  readonly layout: Layout;
  readonly profile: SlowProfile;
  readonly seed: number;
  readonly times: Times;
}

type CallOnce = (caller: number) => Promise<void>;

export async function play(cell: Cell): Promise<Played> {
  const { row, layout, seed, times } = cell;
  // No virtual time passes while WebAssembly compiles.
  await loadHash();
  const scheduler = new Scheduler(seed);
  const world = new World(cell, scheduler);
  const source = workOf(row, seededRandom(seed + 2));
  const instances =
    layout === 'container'
      ? await world.containers(source)
      : Array.from({ length: row.instances }, () => world.single(source));
  const tally = new Tally(row.instances * row.callers);
  const untilMs = scheduler.nowMs + times.warmUpMs + times.windowMs;
  const fromMs = untilMs - times.windowMs;
  let before: Counts | undefined;
  const callAgain = async (call: CallOnce, caller: number): Promise<void> => {
    while (scheduler.nowMs < untilMs) {
      const begunMs = scheduler.nowMs;
      await call(caller);
      if (begunMs < fromMs || scheduler.nowMs > untilMs) continue;
      before ??= world.counts();
      tally.note(caller, scheduler.nowMs - begunMs);
    }
  };
  const loops = instances.flatMap((call, at) =>
    Array.from({ length: row.callers }, (_, one) => callAgain(call, at * row.callers + one)),
  );
  let after: Counts | undefined;
  scheduler.at(untilMs, () => (after = world.counts()));
  await scheduler.run(Promise.all(loops), STEPS_MAX);
  return {
    ...tally.figures(times.windowMs),
    ...perOperation(before ?? after!, after!, tally.count),
    entities: world.entities,
  };
}

interface Counts {
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  readonly conflicts: number;
}

/** All 0 if no operation ended within the window. */
function perOperation(before: Counts, after: Counts, operations: number): Counts {
  const per = (name: keyof Counts): number => (after[name] - before[name]) / Math.max(1, operations);
  return { requests: per('requests'), reads: per('reads'), writes: per('writes'), conflicts: per('conflicts') };
}

class Tally {
  readonly #byCaller: number[];
  readonly #latenciesMs: number[] = [];

  constructor(callers: number) {
    this.#byCaller = Array.from({ length: callers }, () => 0);
  }

  note(caller: number, ms: number): void {
    this.#byCaller[caller]! += 1;
    this.#latenciesMs.push(ms);
  }

  get count(): number {
    return this.#latenciesMs.length;
  }

  figures(windowMs: number): Pick<Played, 'perSecond' | 'p99Ms' | 'slowestCaller'> {
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return {
      perSecond: (this.count * 1_000) / windowMs,
      p99Ms: sorted[Math.floor(0.99 * sorted.length)] ?? 0,
      slowestCaller: (Math.min(...this.#byCaller) * this.#byCaller.length) / Math.max(1, this.count),
    };
  }
}

/** A call has one or two steps; `put` creates or replaces. */
interface Step {
  readonly verb: 'get' | 'put' | 'update' | 'delete';
  readonly key: string;
}

/** Draws the steps of the next call. */
type Source = () => readonly Step[];

function workOf({ work, records, keys }: Row, random: Random): Source {
  const index = keyIndexes(
    keys === undefined ? 'uniform' : 'zipfian-over-records',
    { count: () => records, insertsExpected: 0 },
    random,
  );
  let next = records;
  let oldest = 0;
  const steps: Record<Row['work'], Source> = {
    put: () => [{ verb: 'put', key: keyOf(index()) }],
    get: () => [{ verb: 'get', key: keyOf(index()) }],
    update: () => [{ verb: 'update', key: keyOf(index()) }],
    'put of one record': () => [{ verb: 'put', key: keyOf(0) }],
    append: () => [{ verb: 'put', key: keyOf(next++) }],
    queue: () => [
      { verb: 'put', key: keyOf(next++) },
      { verb: 'delete', key: keyOf(oldest++) },
    ],
    'half puts': () => [{ verb: random() < 0.5 ? 'put' : 'get', key: keyOf(index()) }],
  };
  return steps[work];
}

function keyOf(index: number): string {
  return `record${String(index).padStart(9, '0')}`;
}

/** The provider, and the processes that call it. */
class World {
  readonly #cell: Cell;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #cloud: SlowCloud;
  readonly #state = memoryState();
  readonly #counters: DriverCounters[] = [];
  readonly #values: readonly Uint8Array[];
  #single = { requests: 0, reads: 0, writes: 0, conflicts: 0 };
  /** Of single entities: how often each was written. */
  readonly #versions = new Map<string, number>();

  constructor(cell: Cell, scheduler: Scheduler) {
    this.#cell = cell;
    this.#scheduler = scheduler;
    this.#random = seededRandom(cell.seed + 1);
    this.#cloud = new SlowCloud(cell.profile, this.#runtime(), seededRandom(cell.seed + 3));
    this.#values = Array.from({ length: 64 }, () => this.#runtime().random(RECORD_BYTES));
  }

  #runtime(): ScheduledRuntime {
    return new ScheduledRuntime(this.#scheduler, this.#random);
  }

  get #value(): Uint8Array {
    return this.#values[randomInt(this.#random, this.#values.length)]!;
  }

  get entities(): number {
    return this.#cell.layout === 'container' ? this.#state.entities.size : this.#cell.row.records;
  }

  counts(): Counts {
    const counts = { ...this.#single };
    for (const one of this.#counters) {
      counts.requests += one.readCalls + one.writeCalls + one.removeCalls + one.listCalls;
      counts.reads += one.entitiesAsked;
      counts.writes += one.inserts + one.patches + one.replaces;
      counts.conflicts += one.refusedCondition;
    }
    return counts;
  }

  /** A process with one entity per record. */
  single(source: Source): CallOnce {
    return async () => {
      for (const { verb, key } of source()) {
        const isRead = verb === 'get';
        const isConditional = verb === 'update' || (!isRead && this.#cell.layout === 'conditional');
        while (
          isConditional ? !(await this.#compareAndSet(key)) : !(await this.#send(isRead ? 'read' : 'commit', key))
        );
      }
    };
  }

  async #compareAndSet(id: string): Promise<boolean> {
    while (!(await this.#send('read', id)));
    const version = this.#versions.get(id);
    let wasWritten = false;
    const isSent = await this.#send('commit', id, () => {
      wasWritten = this.#versions.get(id) === version;
      if (wasWritten) this.#versions.set(id, (version ?? 0) + 1);
      else this.#single.conflicts += 1;
    });
    return isSent && wasWritten;
  }

  async #send(kind: 'read' | 'commit', id: string, effect?: () => void): Promise<boolean> {
    this.#single.requests += 1;
    this.#single[kind === 'read' ? 'reads' : 'writes'] += 1;
    const [sent, answered] = kind === 'read' ? [0, RECORD_BYTES] : [RECORD_BYTES, 0];
    const arrived = await this.#cloud.arrive({ kind, ids: [id], bytes: sent, partition: id });
    if (!arrived.isThrottled) effect?.();
    await arrived.reply(answered);
    return !arrived.isThrottled;
  }

  /** Processes that share a table of containers, loaded before their first call. */
  async containers(source: Source): Promise<CallOnce[]> {
    const { row } = this.#cell;
    await this.#scheduler.run(this.#load(), STEPS_MAX);
    const opening = Array.from({ length: row.instances }, () => this.#open(this.#driver()));
    await this.#scheduler.run(Promise.all(opening), STEPS_MAX);
    return (await Promise.all(opening)).map((table) => async () => {
      for (const step of source()) await this.#do(table, step);
    });
  }

  async #do(table: Table<Uint8Array>, { verb, key }: Step): Promise<void> {
    if (verb === 'get') await table.get(key);
    else if (verb === 'delete') await table.delete(key);
    else if (verb === 'update') await table.update(key, () => this.#value);
    else await table.put(key, this.#value);
  }

  #driver(): Driver {
    const driver: Driver = memoryDriver({
      state: this.#state,
      limits: { commitsWait: this.#cell.profile.locksEntities },
      faults: (call) => this.#fault(call, driver.limits),
    });
    const counted = measured(driver);
    this.#counters.push(counted.counters);
    return counted.driver;
  }

  /** Leaves out the bytes of a reply, which are not known before the effect. */
  async #fault(call: MemoryCall, limits: DriverLimits): Promise<MemoryFault> {
    const arrived = await this.#cloud.arrive(requestOf(call, limits));
    const reply = arrived.reply(0);
    return arrived.isThrottled ? { refuse: 'throttled', reply } : { reply };
  }

  async #load(): Promise<void> {
    const { records } = this.#cell.row;
    const table = await this.#open(memoryDriver({ state: this.#state }));
    const all = Array.from({ length: records }, (_, index) => ({ key: keyOf(index), value: this.#value }));
    for (let at = 0; at < records; at += 5_000) await table.putMany(all.slice(at, at + 5_000));
  }

  #open(driver: Driver): Promise<Table<Uint8Array>> {
    const store: Store = openStore({ driver, runtime: this.#runtime(), compression: 'none' });
    const { work } = this.#cell.row;
    const order = work === 'append' || work === 'queue' ? 'key' : 'hash';
    return store.table(TABLE, { codec: 'bytes', order });
  }
}

function requestOf(call: MemoryCall, limits: DriverLimits): SlowRequest {
  if (call.kind === 'list') return { kind: 'query', ids: [], bytes: 0 };
  const members = call.kind === 'read' ? call.requests : call.kind === 'write' ? call.writes : call.removals;
  const ids = members.map(({ id }) => id);
  const bytes = call.kind === 'write' ? call.writes.reduce((sum, { parts }) => sum + partBytes(parts), 0) : 0;
  return { kind: call.kind === 'read' ? 'read' : 'commit', ids, bytes, partition: limits.lane(ids[0]!) };
}
