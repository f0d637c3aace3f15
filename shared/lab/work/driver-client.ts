// An entity a record through the store's driver: tells packing from transport.
import type { Driver, EntityId, EntityVersion, ListCursor, PartName, Write, WriteOutcome } from '../../store/index.ts';
import { chunks } from '../kit/chunks.ts';
import { withTries } from './baseline.ts';
import { heard, type LayoutClient, oneOrMany, type SingleTable, type Unit } from './layout-clients.ts';
import type { Operation } from './operations.ts';
import type { SampleRecord } from './records.ts';
import { recordsPerCall } from './workloads.ts';

const PART = 'p0' as PartName;
const CALL = { timeoutMs: 30_000 } as const;
/** Versions that are remembered; those behind are read again. */
const VERSIONS_MAX = 100_000;
/** As long as the driver: a store keeps what it knows from one cell to the next, too. */
const VERSIONS = new WeakMap<Driver, Map<EntityId, EntityVersion>>();

/** Records of one call go as the driver's largest writes, in parallel. */
export function driverClient(driver: Driver, dataset: string): LayoutClient {
  const entities = new Entities(driver, prefixOf(dataset));
  return {
    recordsPerCall,
    call: oneOrMany(entities, (operations) => entities.writes(operations)),
  };
}

/** No error if absent. Rejects with the driver's error or the signal's reason. */
export async function removeEntities(driver: Driver, dataset: string, signal: AbortSignal): Promise<void> {
  let cursor: ListCursor | undefined;
  do {
    signal.throwIfAborted();
    const { ids, cursor: next } = await driver.list(prefixOf(dataset), cursor, driver.limits.listMax, CALL);
    const reads = ids.map((id) => ({ id, parts: [] }));
    const seen = await Promise.all(chunks(reads, driver.limits.readsMax).map((some) => driver.read(some, CALL)));
    const there = seen.flat().filter((entity) => entity !== undefined);
    const lanes = [...Map.groupBy(there, ({ id }) => driver.limits.lane(id)).values()];
    const removals = lanes.flatMap((lane) => chunks(lane, driver.limits.writesMax));
    const outcomes = await Promise.all(removals.map((some) => driver.remove(some, CALL)));
    for (const outcome of outcomes.flat()) if (outcome.kind !== 'removed') throw new OutcomeError(outcome);
    cursor = next;
  } while (cursor !== undefined);
}

function prefixOf(dataset: string): string {
  return `e!${dataset}!`;
}

/** A write that came to nothing, as far as anybody knows. */
class OutcomeError extends Error {
  readonly code: string;

  constructor({ kind, reason, cause }: Exclude<WriteOutcome, { kind: 'written' }>) {
    super(`${kind}: ${reason}`, { cause });
    this.code = reason === 'other' ? kind : reason;
  }
}

class Entities implements SingleTable {
  readonly #driver: Driver;
  readonly #prefix: string;
  readonly #versions: Map<EntityId, EntityVersion>;

  constructor(driver: Driver, prefix: string) {
    this.#driver = driver;
    this.#prefix = prefix;
    this.#versions = VERSIONS.get(driver) ?? new Map();
    VERSIONS.set(driver, this.#versions);
  }

  async get(key: string): Promise<boolean> {
    return (await this.#read(this.#idOf(key))) !== undefined;
  }

  insert(record: SampleRecord): Promise<void> {
    return this.#written(this.#writeOf(record, undefined));
  }

  range(): Promise<never> {
    return Promise.reject(new TypeError('the driver reads no range of keys'));
  }

  /** As many requests as lanes and the limits of one write make of them. */
  writes(operations: readonly Operation[]): Unit[] {
    const { limits } = this.#driver;
    const inserts = operations.filter((operation) => operation.kind === 'insert');
    const writes = new Map(inserts.map((one) => [one, this.#writeOf(one.record, undefined)]));
    const most = Math.max(1, ...[...writes.values()].map(({ parts }) => parts[0]!.bytes.byteLength));
    const count = Math.max(1, Math.min(limits.writesMax, Math.floor(limits.writeBytesMax / most)));
    const lanes = [...Map.groupBy(inserts, (one) => limits.lane(writes.get(one)!.id)).values()];
    return lanes
      .flatMap((own) => chunks(own, count))
      .map((some) => ({
        records: some.length,
        send: () => heard(some, () => this.#writeAll(some.map((one) => [one.record, writes.get(one)!]))),
      }));
  }

  /** An unsure write is put by itself: an earlier attempt may have written it. */
  async #writeAll(all: readonly (readonly [SampleRecord, Write])[]): Promise<readonly unknown[]> {
    const writes = all.map(([, write]) => write);
    for (const [at, outcome] of (await this.#driver.write(writes, CALL)).entries()) {
      if (outcome.kind === 'written') this.#remember(writes[at]!.id, outcome.version);
      else await this.replace(all[at]![0]);
    }
    return [];
  }

  /** Replaces the record, whatever is in it, or creates it. */
  async replace(record: SampleRecord): Promise<void> {
    const id = this.#idOf(record.key);
    await withTries(async () => {
      const version = this.#versions.get(id) ?? (await this.#read(id));
      return await this.#unlessChanged(this.#writeOf(record, version));
    });
  }

  modify(record: SampleRecord): Promise<boolean> {
    return withTries(async () => {
      const version = await this.#read(this.#idOf(record.key));
      return version !== undefined && (await this.#unlessChanged(this.#writeOf(record, version)));
    });
  }

  async #unlessChanged(write: Write): Promise<true | 'conflict'> {
    try {
      await this.#written(write);
      return true;
    } catch (error) {
      if (!(error instanceof OutcomeError && error.code === 'condition')) throw error;
      this.#versions.delete(write.id);
      return 'conflict';
    }
  }

  async #written(write: Write): Promise<void> {
    const [outcome] = await this.#driver.write([write], CALL);
    if (outcome!.kind !== 'written') throw new OutcomeError(outcome!);
    this.#remember(write.id, outcome!.version);
  }

  /** Receives and decodes as other layouts do. The version; undefined if absent. */
  async #read(id: EntityId): Promise<EntityVersion | undefined> {
    const [entity] = await this.#driver.read([{ id, parts: 'all' }], CALL);
    if (entity === undefined) return undefined;
    JSON.parse(Buffer.from(entity.parts.get(PART)!).toString());
    this.#remember(id, entity.version);
    return entity.version;
  }

  #remember(id: EntityId, version: EntityVersion): void {
    this.#versions.delete(id);
    this.#versions.set(id, version);
    if (this.#versions.size <= VERSIONS_MAX) return;
    for (const oldest of this.#versions.keys()) return void this.#versions.delete(oldest);
  }

  #writeOf({ key, fields }: SampleRecord, version: EntityVersion | undefined): Write {
    const id = this.#idOf(key);
    const parts = [{ name: PART, bytes: Buffer.from(JSON.stringify(fields)), chunksBefore: 0 }];
    return version === undefined ? { kind: 'insert', id, parts } : { kind: 'replace', id, version, parts };
  }

  /** Ids have no `:`. */
  #idOf(key: string): EntityId {
    return (this.#prefix + key.replaceAll(':', '.')) as EntityId;
  }
}
