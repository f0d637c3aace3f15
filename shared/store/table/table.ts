// The verbs of a table: validation, encoding and outcomes at the edge; beneath, changes to the engine's queues and looks at its leaves.
import { locate } from '../container/branch.ts';
import type { Decide, Decision } from '../container/change.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type {
  CallOptions,
  CodecName,
  DeleteItem,
  DeleteOptions,
  DeleteOutcome,
  Entry,
  GetOptions,
  GetOutcome,
  Order,
  PutItem,
  PutOptions,
  PutOutcome,
  Scan,
  ScanOptions,
  Table,
  TableStats,
  UpdateOptions,
} from '../contract/api.ts';
import type { EntityId } from '../contract/driver.ts';
import { asStoreError, orderChanged, StoreError } from '../contract/errors.ts';
import { ARRAY, CHECK, checkArgument, checkItems, FUNCTION } from '../contract/options.ts';
import type { Engine } from '../engine/engine.ts';
import { lookForRecords, recordIn } from '../engine/lookup.ts';
import type { Id64 } from '../format/bytes.ts';
import { encodeKey, type PositionOf, positionsOf } from '../format/position.ts';
import type { StoredRecord } from '../format/record.ts';
import type { Deadlines } from '../io/deadline.ts';
import type { Admission } from './admission.ts';
import { checkMaxAge, failRest, type Since, type Wanted } from './read.ts';
import { TableScan } from './scan.ts';
import { decodeValue, encodeValue, matches, versionOf } from './values.ts';
import { type Prepare, Writer } from './write.ts';

/** The last moment a Date can hold, and below the largest varint. */
const LATEST_MS = 8.64e15;
export interface TableContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly isNew: boolean;
  readonly codec: CodecName;
  readonly deadlines: Deadlines;
  readonly admission: Admission;
}

export class StoredTable<V> implements Table<V> {
  readonly name: string;
  readonly order: Order;
  readonly isNew: boolean;
  readonly #context: TableContext;
  readonly #place: PositionOf;
  readonly #writer: Writer;

  constructor(context: TableContext) {
    this.#context = context;
    this.name = context.engine.table;
    this.order = context.order;
    this.isNew = context.isNew;
    this.#place = positionsOf(context.order, 0);
    this.#writer = new Writer(context);
  }

  async get(key: string, options?: GetOptions): Promise<Entry<V> | undefined> {
    CHECK.get(options);
    const [outcome] = await this.#getAll([key], options);
    if (outcome?.status === 'failed') throw outcome.error;
    return outcome?.status === 'found' ? entryOf(outcome) : undefined;
  }

  async getMany(keys: readonly string[], options?: GetOptions): Promise<GetOutcome<V>[]> {
    checkArgument('table.getMany', 'keys', ARRAY, keys);
    CHECK.getMany(options);
    return this.#getAll(keys, options);
  }

  async #getAll(keys: readonly string[], options: GetOptions | undefined): Promise<GetOutcome<V>[]> {
    const maxAgeMs = checkMaxAge(options?.maxAgeMs, this.name);
    const deadline = this.#context.deadlines.begin(options);
    const outcomes: GetOutcome<V>[] = [];
    const begunTick = this.#context.engine.clock.now().tick;
    const wanted: Wanted[] = [];
    const { turns } = this.#context.engine;
    for (const [index, key] of keys.entries()) {
      if (index > 0 && turns.isLong) await turns.pause();
      try {
        const bytes = encodeKey(key, this.name);
        wanted.push({ index, key, bytes, position: this.#place(bytes), level: 0 });
      } catch (error) {
        outcomes[index] = { status: 'failed', key, error: asStoreError(error) };
      }
    }
    try {
      await this.#context.deadlines.bound(deadline, () => this.#read(wanted, { begunTick, maxAgeMs }, outcomes));
      return outcomes;
    } catch (error) {
      // A copy: what is still being read must not change the answer.
      const answered = outcomes.slice();
      failRest(wanted, answered, error);
      return answered;
    }
  }

  async #read(wanted: readonly Wanted[], since: Since, outcomes: GetOutcome<V>[]): Promise<void> {
    const groups = await this.#context.engine.tree.group(wanted, (one, error) => failRest([one], outcomes, error));
    const reading = [...groups].map(([id, group]) =>
      this.#readGroup(id, group, since, outcomes).catch((error: unknown) => failRest(group, outcomes, error)),
    );
    await Promise.all(reading);
  }

  async #readGroup(id: EntityId, group: readonly Wanted[], since: Since, outcomes: GetOutcome<V>[]): Promise<void> {
    const { engine } = this.#context;
    if (group.length > 1 && engine.turns.isLong) await engine.turns.pause();
    const leaf = await lookForRecords(engine, id, { positions: group.map(({ position }) => position), ...since });
    for (const [place, { index, key, bytes, position }] of group.entries()) {
      if (place > 0 && engine.turns.isLong) await engine.turns.pause();
      const isHere = leaf !== undefined && locate(leaf.header, position, 0) === 'here';
      const owner = isHere
        ? leaf
        : await engine.tree.find(position, 0, (node) =>
            lookForRecords(engine, node, { positions: [position], ...since }),
          );
      if (owner.header.order !== this.order) throw orderChanged(this.name);
      outcomes[index] = this.#outcomeIn(owner, { key, bytes, position });
    }
  }

  /** A value that cannot be decoded is the failure of its own key alone, a damaged page that of its keys. */
  #outcomeIn(leaf: Snapshot, { key, bytes, position }: Pick<Wanted, 'key' | 'bytes' | 'position'>): GetOutcome<V> {
    try {
      const record = recordIn(this.#context.engine, leaf, position, bytes);
      if (record === undefined) return { status: 'absent', key };
      return { status: 'found', ...this.#entry(key, record, leaf.header.incarnation) };
    } catch (error) {
      return { status: 'failed', key, error: asStoreError(error) };
    }
  }

  async put(key: string, value: V, options?: PutOptions): Promise<{ readonly version: string }> {
    CHECK.put(options);
    const [outcome] = await this.#putAll([{ ...options, key, value }], options);
    if (outcome?.status !== 'written') throw outcome?.error ?? new TypeError('no outcome');
    return { version: outcome.version };
  }

  async putMany(items: readonly PutItem<V>[], options?: CallOptions): Promise<PutOutcome[]> {
    checkItems('table.putMany', items, CHECK.putItem);
    CHECK.putMany(options);
    return this.#putAll(items, options);
  }

  async #putAll(items: readonly PutItem<V>[], options: CallOptions | undefined): Promise<PutOutcome[]> {
    const verdicts = await this.#writer.write(items, (item) => this.#putting(item), options);
    return verdicts.map((verdict, index): PutOutcome => {
      const { key } = items[index]!;
      if (verdict.kind === 'applied') return { status: 'written', key, version: versionOf(verdict) };
      return { status: 'failed', key, error: verdict.kind === 'failed' ? asStoreError(verdict.error) : noVerdict() };
    });
  }

  #putting(item: PutItem<V>): ReturnType<Prepare<PutItem<V>>> {
    const { key, value, ifVersion, ifAbsent, ttlMs } = item;
    const place = { table: this.name, key };
    if (ifVersion !== undefined && ifAbsent === true)
      throw new StoreError('invalid', 'give ifVersion or ifAbsent, not both', place);
    const expiresAtMs = this.#expiry(ttlMs, place);
    const { tag, bytes } = encodeValue(this.#context.codec, value, place);
    const writing: Decision = { kind: 'write', codec: tag, value: bytes, expiresAtMs };
    if (ifVersion === undefined && ifAbsent !== true) return { wish: writing, bytes: bytes.length };
    const wish: Decide = (current, incarnation) => {
      if (ifAbsent === true && current !== undefined) return conflict('the record exists already', place);
      if (!matches(ifVersion, current, incarnation)) return conflict('the record is not at the version given', place);
      return writing;
    };
    return { wish, bytes: bytes.length };
  }

  async update(
    key: string,
    change: (current: Entry<V> | undefined) => V | undefined,
    options?: UpdateOptions,
  ): Promise<Entry<V> | undefined> {
    checkArgument('table.update', 'change', FUNCTION, change);
    CHECK.update(options);
    const place = { table: this.name, key };
    const expiresAtMs = this.#expiry(options?.ttlMs, place);
    const wish: Decide = (current, incarnation) => {
      const value: unknown = change(current === undefined ? undefined : this.#entry(key, current, incarnation));
      if (value === undefined) return { kind: 'none' };
      if (value instanceof Promise) {
        // Nobody else would meet its failure.
        value.catch(() => undefined);
        throw new StoreError('invalid', 'the function given to update must not be asynchronous', place);
      }
      const { tag, bytes } = encodeValue(this.#context.codec, value, place);
      return { kind: 'write', codec: tag, value: bytes, expiresAtMs: expiresAtMs ?? current?.expiresAtMs };
    };
    const [verdict] = await this.#writer.write([{ key }], () => ({ wish, bytes: 0 }), options);
    if (verdict === undefined || verdict.kind === 'failed') throw verdict?.error;
    return verdict.record === undefined ? undefined : this.#entry(key, verdict.record, verdict.incarnation);
  }

  async delete(
    key: string,
    options?: DeleteOptions,
  ): Promise<{ readonly deleted: boolean; readonly version: string | undefined }> {
    CHECK.delete(options);
    const [outcome] = await this.#deleteAll([{ ...options, key }], options);
    if (outcome?.status === 'failed') throw outcome.error;
    return outcome?.status === 'deleted'
      ? { deleted: true, version: outcome.version }
      : { deleted: false, version: undefined };
  }

  async deleteMany(items: readonly (string | DeleteItem)[], options?: CallOptions): Promise<DeleteOutcome[]> {
    checkItems('table.deleteMany', items, CHECK.deleteItem);
    CHECK.deleteMany(options);
    const wanted = items.map((item): DeleteItem => (typeof item === 'string' ? { key: item } : item));
    return this.#deleteAll(wanted, options);
  }

  async #deleteAll(wanted: readonly DeleteItem[], options: CallOptions | undefined): Promise<DeleteOutcome[]> {
    const verdicts = await this.#writer.write(wanted, (item) => ({ wish: this.#deleting(item), bytes: 0 }), options);
    return verdicts.map((verdict, index): DeleteOutcome => {
      const { key } = wanted[index]!;
      if (verdict.kind === 'applied') return { status: 'deleted', key, version: versionOf(verdict) };
      return verdict.kind === 'unchanged'
        ? { status: 'absent', key }
        : { status: 'failed', key, error: asStoreError(verdict.error) };
    });
  }

  #deleting({ key, ifVersion }: DeleteItem): Decide {
    return (current, incarnation) => {
      if (!matches(ifVersion, current, incarnation))
        return conflict('the record is not at the version given', { table: this.name, key });
      return current === undefined ? { kind: 'none' } : { kind: 'remove' };
    };
  }

  scan(options: ScanOptions = {}): Scan<V> {
    CHECK.scan(options);
    const { engine, deadlines, order } = this.#context;
    return new TableScan<V>(engine, deadlines, order, options, (key, record, incarnation) =>
      this.#entry(key, record, incarnation),
    );
  }

  stats(): TableStats {
    const { counters, readLimit, writeLimit } = this.#context.engine;
    return {
      ...counters,
      readsInFlightMax: readLimit.inFlightMax,
      commitsInFlightMax: writeLimit.inFlightMax,
    };
  }

  #expiry(ttlMs: number | undefined, place: { table: string; key: string }): number | undefined {
    if (ttlMs === undefined) return undefined;
    if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0)
      throw new StoreError('invalid', 'ttlMs must be a positive whole number', place);
    const expiresAtMs = this.#context.engine.runtime.wallMs() + ttlMs;
    if (expiresAtMs > LATEST_MS)
      throw new StoreError('invalid', 'ttlMs reaches beyond the end of time: leave it out', place);
    return expiresAtMs;
  }

  #entry(key: string, record: StoredRecord, incarnation: Id64): Entry<V> {
    const value = decodeValue(
      this.#context.codec,
      { tag: record.codec, bytes: record.value },
      { table: this.name, key },
    ) as V;
    return {
      key,
      value,
      version: versionOf({ incarnation, version: record.version }),
      expiresAtMs: record.expiresAtMs,
    };
  }
}

function conflict(message: string, place: { table: string; key: string }): Decision {
  return { kind: 'none', error: new StoreError('conflict', message, place) };
}

function entryOf<V>({ key, value, version, expiresAtMs }: Entry<V>): Entry<V> {
  return { key, value, version, expiresAtMs };
}

function noVerdict(): StoreError {
  return new StoreError('unknown', 'the write ended without a verdict');
}
