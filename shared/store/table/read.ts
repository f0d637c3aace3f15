// Reading what a call asks for: its keys are grouped by the leaves that own them, each leaf is looked at once, and every key has its outcome,
// at the latest when the deadline passes.
import type { Snapshot } from '../container/snapshot.ts';
import type { CodecName, GetOptions, GetOutcome, Order } from '../contract/api.ts';
import type { EntityId } from '../contract/driver.ts';
import { asStoreError, orderChanged, StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { type LeafRequest, lookForRecords, recordIn, type Since } from '../engine/lookup.ts';
import { encodeKey, type PositionOf, positionsOf, type Position, within } from '../format/position.ts';
import type { Deadlines } from '../io/deadline.ts';
import { decodeEntry } from './values.ts';

export interface RecordReaderContext {
  readonly engine: Engine;
  readonly order: Order;
  readonly codec: CodecName;
  readonly deadlines: Deadlines;
}

/** A key that is asked for, and where it stands among the keys of the call. */
interface Wanted {
  readonly index: number;
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly position: Position;
  readonly level: number;
}

export class RecordReader<V> {
  readonly #context: RecordReaderContext;
  readonly #positionOf: PositionOf;

  constructor(context: RecordReaderContext) {
    this.#context = context;
    this.#positionOf = positionsOf(context.order, 0);
  }

  /** An outcome for each key, in order. Cost: requests by containers, not by keys; none for what memory holds and `maxAgeMs` allows. */
  async read(keys: readonly string[], options: GetOptions | undefined): Promise<GetOutcome<V>[]> {
    const { deadlines, engine } = this.#context;
    const maxAgeMs = checkMaxAge(options?.maxAgeMs, engine.table);
    const deadline = deadlines.begin(options);
    const begunTick = engine.clock.now().tick;
    const outcomes: GetOutcome<V>[] = [];
    const wanted = await this.#locate(keys, outcomes);
    try {
      await deadlines.bound(deadline, () => this.#readAll(wanted, { begunTick, maxAgeMs }, outcomes));
      return outcomes;
    } catch (error) {
      // A copy: what is still being read must not change the answer.
      const answered = outcomes.slice();
      failRest(wanted, answered, error);
      return answered;
    }
  }

  /** The position of each key; a key that has none has its outcome. */
  async #locate(keys: readonly string[], outcomes: GetOutcome<V>[]): Promise<Wanted[]> {
    const { engine } = this.#context;
    const wanted: Wanted[] = [];
    for (const [index, key] of keys.entries()) {
      if (index > 0 && engine.turns.isLong) await engine.turns.pause();
      try {
        const bytes = encodeKey(key, engine.table);
        wanted.push({ index, key, bytes, position: this.#positionOf(bytes), level: 0 });
      } catch (error) {
        outcomes[index] = { status: 'failed', key, error: asStoreError(error) };
      }
    }
    return wanted;
  }

  async #readAll(wanted: readonly Wanted[], since: Since, outcomes: GetOutcome<V>[]): Promise<void> {
    const groups = await this.#context.engine.tree.group(wanted, (one, error) => failRest([one], outcomes, error));
    const reading: Promise<void>[] = [];
    for (const [id, group] of groups) reading.push(this.#readGroup(id, group, since, outcomes));
    // None of them rejects.
    for (const each of reading) await each;
  }

  /** Looks at one leaf for all the keys that the branches send there. What goes wrong is the outcome of those that have none yet. */
  async #readGroup(id: EntityId, group: readonly Wanted[], since: Since, outcomes: GetOutcome<V>[]): Promise<void> {
    try {
      await this.#readLeaf(id, group, since, outcomes);
    } catch (error) {
      failRest(group, outcomes, error);
    }
  }

  async #readLeaf(id: EntityId, group: readonly Wanted[], since: Since, outcomes: GetOutcome<V>[]): Promise<void> {
    const { engine, order } = this.#context;
    if (group.length > 1 && engine.turns.isLong) await engine.turns.pause();
    const leaf = await lookForRecords(engine, id, { positions: group.map(({ position }) => position), ...since });
    let owner = leaf !== undefined && leaf.header.state === 'live' ? leaf : undefined;
    for (const [count, wanted] of group.entries()) {
      if (count > 0 && engine.turns.isLong) await engine.turns.pause();
      // Groups are in order of position: where one key was sent astray, those after it were as a rule too.
      if (owner === undefined || !owns(owner, wanted.position))
        owner = await this.#findOwner(wanted.position, {
          positions: group.slice(count).map(({ position }) => position),
          ...since,
        });
      if (owner.header.order !== order) throw orderChanged(engine.table);
      outcomes[wanted.index] = this.#outcomeIn(owner, wanted);
    }
  }

  /** The leaf of a key that the branches sent astray, or whose leaf is missing, with the pages that all of the request's positions need. */
  #findOwner(position: Position, request: LeafRequest): Promise<Snapshot> {
    const { engine } = this.#context;
    return engine.tree.find(position, 0, (id) => lookForRecords(engine, id, request));
  }

  /** A value that cannot be decoded is the failure of its own key alone, a damaged page that of its keys. */
  #outcomeIn(leaf: Snapshot, { key, bytes, position }: Wanted): GetOutcome<V> {
    const { engine, codec } = this.#context;
    try {
      const record = recordIn(engine, leaf, position, bytes);
      if (record === undefined) return { status: 'absent', key };
      const entry = decodeEntry<V>({ table: engine.table, codec }, key, record, leaf.header.incarnation);
      return { status: 'found', ...entry };
    } catch (error) {
      return { status: 'failed', key, error: asStoreError(error) };
    }
  }
}

/** Of a leaf that was looked up: a retired one counts there until it is absorbed. */
function owns({ header: { level, low, high } }: Snapshot, position: Position): boolean {
  return level === 0 && within(position, low, high);
}

/** Those that have no outcome yet failed. */
function failRest<V>(wanted: readonly Wanted[], outcomes: GetOutcome<V>[], error: unknown): void {
  for (const { index, key } of wanted) outcomes[index] ??= { status: 'failed', key, error: asStoreError(error) };
}

function checkMaxAge(maxAgeMs: number | undefined, table: string): number {
  if (maxAgeMs === undefined) return 0;
  if (maxAgeMs >= 0) return maxAgeMs;
  throw new StoreError('invalid', 'maxAgeMs must not be negative', { table });
}
