// The store: one driver, one cache, one set of limits, and an engine for each open table.
import { inspectContainer } from './admin/inspect.ts';
import { dropTable, listTables, openRoot } from './admin/lifecycle.ts';
import { repairTable } from './admin/repair.ts';
import { Vacuum } from './admin/vacuum.ts';
import { verifyTable } from './admin/verify.ts';
import type { InspectOptions, RepairOptions, VacuumOptions, VerifyOptions } from './contract/admin.ts';
import type { Store, Table } from './contract/api.ts';
import type { Runtime } from './contract/runtime.ts';
import type { Driver } from './contract/driver.ts';
import type { CallOptions, StoreOptions, TableOptions } from './contract/options.ts';
import { StoreError } from './contract/errors.ts';
import { CHECK } from './contract/check-options.ts';
import { TAG_DIGITS } from './format/header.ts';
import type { StoreShared } from './engine/core.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import { checkTableName } from './format/entity-ids.ts';
import { decodeKey } from './format/position.ts';
import type { StoredRecord } from './format/page-body.ts';
import { RequestLimit, Semaphore, withRetry } from './io/requests.ts';
import { Clock, drawId } from './io/clock.ts';
import { ContainerCache } from './io/container-cache.ts';
import { CallDriver, Deadlines } from './io/deadline.ts';
import { loadHash } from './system/hash.ts';
import { systemRuntime } from './system/system-runtime.ts';
import { checkTtl } from './table/actions.ts';
import { traceOperation } from './system/tracing.ts';
import { Admission } from './table/table-context.ts';
import { StoredTable } from './table/table.ts';
import { decodeValue } from './table/encode-value.ts';

const CACHE_BYTES_DEFAULT = 64 * 1024 * 1024;
/** A smaller cache would not hold one header. */
const CACHE_BYTES_LEAST = 16 * 1024;
const TIMEOUT_MS_DEFAULT = 30_000;
/** Bounds the changes that wait to be written: their memory, and the last one's wait. */
const QUEUED_BYTES_MAX = 64 * 1024 * 1024;
const QUEUED_CHANGES_MAX = 100_000;
const COMMITS_AT_A_TIME = 256;
/** Leaves at creation. A growing table splits by itself. */
const INITIAL_CONTAINERS_MAX = 256;
/** `close` waits as long for work under way. */
const CLOSE_MS = 5_000;
const QUIET_MS_DEFAULT = 120_000;
/** By default, the time for a verification or a repair; the longest `quietMs`. */
const DAY_MS = 24 * 3_600_000;
/** The share of the requests in flight that a vacuum takes, at most. */
const VACUUM_SHARE = 1 / 4;
/** A vacuum begins no merge so long before its deadline. */
const VACUUM_ENDS_MS = 2_000;

/** How many stores are open on a driver. With 0 the last one closed it. */
const openStores = new WeakMap<Driver, number>();

/**
 * Opens a store on a driver. No I/O. Throws `invalid` for senseless options or a closed driver, a
 * TypeError for unknown or mistyped options.
 */
export function openStore(options: StoreOptions): Store {
  return new ContainerStore(options);
}

/** A call on a whole table. `defaultMs`: its deadline, unless the options have one. */
interface Administered {
  readonly name: string;
  readonly options: CallOptions | undefined;
  readonly defaultMs?: number;
  readonly containerBytesMax?: number | undefined;
  /** The share of `inFlightMax` that it has to itself; undefined: it stands in line with others. */
  readonly inFlightShare?: number;
}

class ContainerStore implements Store {
  readonly #given: Driver;
  readonly #driver;
  readonly #shared: Omit<StoreShared, 'tag'>;
  readonly #admission = new Admission(QUEUED_BYTES_MAX, QUEUED_CHANGES_MAX);
  readonly #engines = new Engines();
  readonly #timeoutMs: number;
  /** Drawn at its first use: processes restored from one snapshot must not share it. */
  #tag: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: StoreOptions) {
    CHECK.openStore(options);
    const { runtime = systemRuntime, compression = 'zstd' } = options;
    const { cacheBytesMax = CACHE_BYTES_DEFAULT, timeoutMs = TIMEOUT_MS_DEFAULT } = options;
    if (!Number.isSafeInteger(cacheBytesMax) || cacheBytesMax < CACHE_BYTES_LEAST)
      throw new StoreError('invalid', `cacheBytesMax must be a whole number, at least ${CACHE_BYTES_LEAST}`);
    const { inFlightMax } = options.driver.limits;
    this.#timeoutMs = timeoutMs;
    const limits = newLimits(runtime, inFlightMax);
    const { driver, failure } = withRetry(options.driver, runtime, (call) => limits.readLimit.noteThrottledTry(call));
    this.#driver = driver;
    this.#shared = {
      runtime,
      clock: new Clock(runtime),
      cache: new ContainerCache(cacheBytesMax),
      deadlines: new Deadlines(runtime, timeoutMs, { address: options.driver.limits.address, failure }),
      ...limits,
      compression,
    };
    this.#given = options.driver;
    shareDriver(this.#given);
  }

  async table<V = unknown, In = V>(name: string, options: TableOptions = {}): Promise<Table<V, In>> {
    CHECK.table(options);
    checkCreation(name, options);
    const { containers = 1, codec = 'msgpack', schema, ttlMs, create = true, containerBytesMax } = options;
    this.#checkSharedSize(name, containerBytesMax);
    const { isNew, root } = await this.#administer('table', { name, options, containerBytesMax }, (engine) =>
      openRoot(engine, { order: options.order, groupBy: options.groupBy, containers, create }),
    );
    // Another call may have opened the table meanwhile.
    this.#checkSharedSize(name, containerBytesMax);
    // Engines of existing tables only are kept: calls with other names must not fill the memory.
    const subject = { table: name, driver: this.#driver, containerBytesMax };
    const engine = this.#engines.get(name) ?? this.#newEngine(subject);
    this.#engines.keep(engine);
    const { order, groupBy } = root.header;
    const shared = { deadlines: this.#shared.deadlines, admission: this.#admission };
    return new StoredTable<V, In>({ engine, order, groupBy, isNew, codec, schema, ttlMs, ...shared });
  }

  async tables(options?: CallOptions) {
    CHECK.tables(options);
    return traceOperation(undefined, 'tables', async () => {
      this.#assertOpen();
      const { deadlines } = this.#shared;
      const engineOf = (table: string) => this.#newEngine({ table, driver: this.#driver });
      return deadlines.bound(deadlines.begin(options), () => listTables(this.#driver, engineOf));
    });
  }

  async drop(name: string, options?: CallOptions) {
    CHECK.drop(options);
    return this.#administer('drop', { name, options }, dropTable);
  }

  async vacuum(name: string, options: VacuumOptions = {}) {
    CHECK.vacuum(options);
    this.#checkSharedSize(name, options.containerBytesMax);
    const containerBytesMax = options.containerBytesMax ?? this.#engines.get(name)?.containerBytesMax;
    const { quietMs = QUIET_MS_DEFAULT } = options;
    if (!(quietMs >= 0 && quietMs <= DAY_MS))
      throw new StoreError('invalid', `quietMs must be from 0 to ${DAY_MS}`, { table: name });
    const defaultMs = this.#timeoutMs + quietMs;
    const { cursor, onProgress, timeoutMs = defaultMs } = options;
    // Merges that were begun end before the call does.
    const untilMs = this.#shared.runtime.monotonicMs() + timeoutMs - Math.min(VACUUM_ENDS_MS, timeoutMs / 10);
    let vacuum: Vacuum | undefined;
    return this.#administer(
      'vacuum',
      { name, options, defaultMs, containerBytesMax, inFlightShare: VACUUM_SHARE },
      (engine, ended) => {
        vacuum = new Vacuum(engine, { quietMs, untilMs, ended, cursor, onProgress });
        return vacuum.run();
      },
      () => vacuum?.report,
    );
  }

  async verify(name: string, options: VerifyOptions = {}) {
    CHECK.verify(options);
    return this.#administer('verify', { name, options, defaultMs: DAY_MS }, (engine) =>
      verifyTable({ engine, checkValue: checkValueOf(name), onFinding: options.onFinding }),
    );
  }

  async inspect(name: string, options: InspectOptions = {}) {
    CHECK.inspect(options);
    return this.#administer('inspect', { name, options }, (engine) => inspectContainer(engine, options));
  }

  async repair(name: string, options: RepairOptions) {
    CHECK.repair(options);
    const { save, dryRun: isDryRun = false } = options;
    return this.#administer('repair', { name, options, defaultMs: DAY_MS }, (engine) =>
      repairTable({ engine, checkValue: checkValueOf(name), save, isDryRun }),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { runtime } = this.#shared;
    const untilMs = runtime.monotonicMs() + CLOSE_MS;
    while (this.#isBusy() && runtime.monotonicMs() < untilMs) await runtime.sleep(10);
    this.#shared.deadlines.close(new StoreError('aborted', 'the store was closed'));
    const others = openStores.get(this.#given)! - 1;
    openStores.set(this.#given, others);
    if (others === 0) await this.#given.close();
  }

  #isBusy(): boolean {
    return this.#shared.deadlines.count > 0 || this.#engines.all().some((engine) => engine.router.isAwaited);
  }

  #newEngine(subject: Parameters<typeof createEngine>[1], inFlightShare?: number): Engine {
    this.#tag ??= drawId(this.#shared.runtime).slice(0, TAG_DIGITS);
    const shared = { ...this.#shared, tag: this.#tag };
    if (inFlightShare === undefined) return createEngine(shared, subject);
    const inFlightMax = Math.max(1, Math.floor(inFlightShare * this.#given.limits.inFlightMax));
    return createEngine({ ...shared, ...newLimits(shared.runtime, inFlightMax) }, subject);
  }

  /**
   * Does work on a whole table. If the call ends before it, `atEnd` gives its result; else, and
   * after a failure, it fails, with `unknown` if anything may have been written.
   */
  #administer<T>(
    operation: string,
    { name: table, options, defaultMs = this.#timeoutMs, containerBytesMax, inFlightShare }: Administered,
    work: (engine: Engine, ended: AbortSignal) => Promise<T>,
    atEnd: () => T | undefined = () => undefined,
  ): Promise<T> {
    checkTableName(table);
    return traceOperation(table, operation, async () => {
      this.#assertOpen();
      const call = new CallDriver(this.#driver, this.#shared.deadlines);
      const engine = this.#newEngine({ table, driver: call.driver, containerBytesMax }, inFlightShare);
      const deadline = this.#shared.deadlines.begin({ ...options, timeoutMs: options?.timeoutMs ?? defaultMs });
      const prepared = () => loadHash().then(() => work(engine, call.ended));
      let result: T | undefined;
      return this.#shared.deadlines
        .bound(
          deadline,
          () => prepared().catch((error: unknown) => Promise.reject(call.failure(error))),
          (cause) => {
            result = atEnd();
            return call.end(cause);
          },
        )
        .catch((error: unknown) => result ?? Promise.reject(error));
    });
  }

  /** All handles of a table share one engine. */
  #checkSharedSize(table: string, containerBytesMax: number | undefined): void {
    const open = this.#engines.get(table);
    if (open === undefined || containerBytesMax === undefined || containerBytesMax === open.containerBytesMax) return;
    const message = `the table is open in this store with containerBytesMax ${open.containerBytesMax}: give the same, or none`;
    throw new StoreError('invalid', message, { table });
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StoreError('invalid', 'the store is closed');
  }
}

/** The engines that a handle or work under way still uses: a store may meet a table a tenant. */
class Engines {
  readonly #engines = new Map<string, WeakRef<Engine>>();
  readonly #collected = new FinalizationRegistry<string>((table) => {
    if (this.get(table) === undefined) this.#engines.delete(table);
  });

  get(table: string): Engine | undefined {
    return this.#engines.get(table)?.deref();
  }

  keep(engine: Engine): void {
    if (this.get(engine.table) === engine) return;
    this.#engines.set(engine.table, new WeakRef(engine));
    this.#collected.register(engine, engine.table);
  }

  all(): Engine[] {
    return [...this.#engines.values()].flatMap((engine) => engine.deref() ?? []);
  }
}

function newLimits(
  runtime: Runtime,
  inFlightMax: number,
): Pick<StoreShared, 'readLimit' | 'writeLimit' | 'commitsAtATime'> {
  const limit = (): RequestLimit => new RequestLimit(runtime, inFlightMax);
  return { readLimit: limit(), writeLimit: limit(), commitsAtATime: new Semaphore(COMMITS_AT_A_TIME) };
}

function shareDriver(driver: Driver): void {
  const others = openStores.get(driver) ?? 0;
  if (others === 0 && openStores.has(driver))
    throw new StoreError('invalid', 'the driver was closed with its last store: make another');
  openStores.set(driver, others + 1);
}

function checkValueOf(table: string): (record: StoredRecord) => void {
  return ({ key, codec, value }) =>
    void decodeValue('msgpack', { tag: codec, bytes: value }, { table, key: decodeKey(key) });
}

/** Throws `invalid` for senseless options of a table. */
function checkCreation(table: string, { order, groupBy, containers = 1, ttlMs }: TableOptions): void {
  const refuse = (message: string): never => {
    throw new StoreError('invalid', message, { table });
  };
  checkTtl(ttlMs, { table });
  if (!Number.isInteger(containers) || containers < 1 || containers > INITIAL_CONTAINERS_MAX)
    refuse(`containers must be a whole number from 1 to ${INITIAL_CONTAINERS_MAX}`);
  if (order === 'key' && containers > 1) refuse('a table of order "key" begins with one container');
  if (groupBy === undefined) return;
  if (order !== 'key') refuse('groupBy needs order "key": give both');
  if (!/^[!-~]$/.test(groupBy)) refuse('groupBy must be one character of ASCII, from "!" to "~"');
}
