// Reads the keys of one call, leaf by leaf. At the deadline every key has an outcome.
import { memoryBytes, type Snapshot } from '../container/snapshot.ts';
import type { GetManyOptions, GetOptions } from '../contract/options.ts';
import type { Entry, GetOutcome } from '../contract/results.ts';
import type { EntityId } from '../contract/driver.ts';
import { asStoreError, orderChanged, StoreError } from '../contract/errors.ts';
import type { Id64 } from '../format/bytes.ts';
import type { StoredRecord } from '../format/page-body.ts';
import { encodeKey, type Position, type PositionOf, positionsOf, within } from '../format/position.ts';
import { bytesToRead, type LeafRequest, lookForRecords, recordIn, type Since } from '../engine/find-records.ts';
import { abortedError, type Deadline } from '../io/deadline.ts';
import type { TableContext } from './table-context.ts';

/** A key of a call, with its index in it. */
interface Wanted {
  readonly index: number;
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly position: Position;
  readonly level: number;
}

/** One call. `bytesMax` and `bytesLeft`: how many bytes of values it may give, in all and still. */
interface Reading extends Since {
  readonly deadline: Deadline;
  readonly bytesMax: number;
  bytesLeft: number;
  /** A value exceeded `bytesMax`, so nothing more is read. */
  isFull: boolean;
  /** The number of leaves that it has read, and their bytes in memory. */
  leaves: number;
  leavesBytes: number;
}

/** About how many bytes of leaves a call reads at a time. */
const BYTES_AT_ONCE = 32 * 1024 * 1024;

/** By default, the most bytes of encoded values that one call gives. */
const VALUES_BYTES_MAX = 64 * 1024 * 1024;

/** Makes an entry of a stored record. */
type Decode<V> = (key: string, record: StoredRecord, incarnation: Id64) => Entry<V>;

export class RecordReader<V> {
  readonly #context: TableContext;
  readonly #positionOf: PositionOf;
  readonly #decode: Decode<V>;

  constructor(context: TableContext, decode: Decode<V>) {
    this.#context = context;
    this.#positionOf = positionsOf(context.order, 0);
    this.#decode = decode;
  }

  /** An outcome for each key, in order. Cost: one request per container, none within `maxAgeMs`. */
  async read(keys: readonly string[], options: GetManyOptions | undefined): Promise<GetOutcome<V>[]> {
    const { deadlines, engine } = this.#context;
    const maxAgeMs = checkMaxAge(options?.maxAgeMs, engine.table);
    const begun = engine.clock.now();
    const deadline = deadlines.begin(options, begun.monotonicMs);
    const { bytesMax = VALUES_BYTES_MAX } = options ?? {};
    if (!(bytesMax >= 0)) throw new StoreError('invalid', 'bytesMax must not be negative', { table: engine.table });
    const none = { isFull: false, leaves: 0, leavesBytes: 0 };
    const reading = { begunTick: begun.tick, maxAgeMs, deadline, bytesMax, bytesLeft: bytesMax, ...none };
    const outcomes: GetOutcome<V>[] = [];
    const locate = (key: string, index: number) => this.#locate(key, index, outcomes);
    const locateAll = () => engine.turns.map(keys, locate);
    const located = keys.length === 1 ? keys.map(locate) : await deadlines.hold(locateAll);
    const wanted = located.filter((one) => one !== undefined);
    try {
      await deadlines.bound(deadline, () => this.#readAll(wanted, reading, outcomes));
      return outcomes;
    } catch (error) {
      // A copy: reads under way must not change the answer.
      const answered = outcomes.slice();
      failRest(wanted, answered, error);
      return answered;
    }
  }

  /** Whether a record was found. Throws the error of a failure. */
  async readOne(key: string, options: GetOptions | undefined): Promise<Exclude<GetOutcome<V>, { status: 'failed' }>> {
    const [outcome] = await this.read([key], options);
    if (outcome!.status === 'failed') throw outcome!.error;
    return outcome!;
  }

  /** Undefined for an invalid key, which gets its outcome here. */
  #locate(key: string, index: number, outcomes: GetOutcome<V>[]): Wanted | undefined {
    const { table } = this.#context.engine;
    try {
      const bytes = encodeKey(key, table);
      return { index, key, bytes, position: this.#positionOf(bytes), level: 0 };
    } catch (error) {
      outcomes[index] = { status: 'failed', key, error: asStoreError(error) };
      return undefined;
    }
  }

  async #readAll(wanted: readonly Wanted[], call: Reading, outcomes: GetOutcome<V>[]): Promise<void> {
    const { deadlines, engine } = this.#context;
    const groups = [...(await engine.tree.group(wanted, (one, error) => failRest([one], outcomes, error)))];
    // In slices, since all replies might be in memory before their values are decoded.
    for (let first = 0; first < groups.length && !call.isFull;) {
      if (deadlines.isOver(call.deadline)) throw abortedError(deadlines.causeOf(call.deadline));
      const some = groups.slice(first, this.#endOfSlice(groups, first, call));
      await Promise.all(some.map(([id, group]) => this.#readLeaf(id, group, call, outcomes)));
      first += some.length;
    }
    if (!call.isFull) return;
    for (const { index, key } of wanted)
      outcomes[index] ??= { status: 'failed', key, error: tooMuch(call, engine.table, key) };
  }

  /** The end of the slice of leaves that are read together, beginning with `first`. */
  #endOfSlice(groups: readonly (readonly [EntityId, readonly Wanted[]])[], first: number, call: Reading): number {
    const { engine } = this.#context;
    if (groups.length * engine.rules.limits.entityBytesMax <= BYTES_AT_ONCE) return groups.length;
    const usualBytes = call.leaves === 0 ? engine.containerBytesMax : call.leavesBytes / call.leaves;
    let end = first;
    for (let bytes = 0; end < groups.length && bytes < BYTES_AT_ONCE; end += 1) {
      const [id, group] = groups[end]!;
      bytes += bytesToRead(engine, id, group) ?? usualBytes;
    }
    return end;
  }

  /**
   * Reads one leaf for all keys that branches send there. An error fails the keys that are left.
   */
  async #readLeaf(id: EntityId, group: readonly Wanted[], call: Reading, outcomes: GetOutcome<V>[]): Promise<void> {
    const { engine, order } = this.#context;
    try {
      if (group.length > 1 && engine.turns.isLong) await engine.turns.pause();
      const leaf = await lookForRecords(engine, id, requestFor(group, call));
      call.leaves += 1;
      call.leavesBytes += leaf === undefined ? 0 : memoryBytes(leaf);
      let owner = leaf !== undefined && leaf.header.state === 'live' ? leaf : undefined;
      // An iterator would be a tenth of a large call's allocations.
      for (let count = 0; count < group.length; count += 1) {
        const wanted = group[count]!;
        if (count > 0 && engine.turns.isLong) await engine.turns.pause();
        // Groups are in order of position: if one key belongs elsewhere, the next mostly do too.
        if (owner === undefined || !owns(owner, wanted.position)) {
          const request = requestFor(group.slice(count), call);
          owner = await engine.tree.find(wanted.position, (at) => lookForRecords(engine, at, request));
        }
        if (owner.header.order !== order) throw orderChanged(engine.table);
        outcomes[wanted.index] = this.#outcomeIn(owner, wanted, call);
      }
    } catch (error) {
      failRest(group, outcomes, error);
    }
  }

  /** A value that cannot be decoded fails only its own key, and a damaged page only its keys. */
  #outcomeIn(leaf: Snapshot, { key, bytes, position }: Wanted, call: Reading): GetOutcome<V> {
    const { engine } = this.#context;
    try {
      const record = recordIn(engine, leaf, position, bytes);
      if (record === undefined) return { status: 'absent', key };
      if (record.value.length > call.bytesLeft) {
        call.isFull = true;
        throw tooMuch(call, engine.table, key);
      }
      call.bytesLeft -= record.value.length;
      const { value, version, expiresAtMs } = this.#decode(key, record, leaf.header.incarnation);
      if (call.maxAgeMs === 0) return { status: 'found', key, value, version, expiresAtMs };
      return { status: 'found', key, value, version, expiresAtMs, ageMs: engine.clock.ageMs(leaf.seen) };
    } catch (error) {
      return { status: 'failed', key, error: asStoreError(error) };
    }
  }
}

function requestFor(group: readonly Wanted[], { begunTick, maxAgeMs }: Since): LeafRequest {
  return { positions: group.map(({ position }) => position), begunTick, maxAgeMs };
}

/** Whether the leaf owns the position; a retired one does until it is absorbed. */
function owns({ header: { level, low, high } }: Snapshot, position: Position): boolean {
  return level === 0 && within(position, low, high);
}

function failRest<V>(wanted: readonly Wanted[], outcomes: GetOutcome<V>[], error: unknown): void {
  for (const { index, key } of wanted) outcomes[index] ??= { status: 'failed', key, error: asStoreError(error) };
}

function tooMuch({ bytesMax }: Reading, table: string, key: string): StoreError {
  const message = `the records of one call exceed ${bytesMax} bytes: get this one in another call`;
  return new StoreError('too_large', message, { table, key });
}

function checkMaxAge(maxAgeMs: number | undefined, table: string): number {
  if (maxAgeMs === undefined) return 0;
  if (maxAgeMs >= 0) return maxAgeMs;
  throw new StoreError('invalid', 'maxAgeMs must not be negative', { table });
}
