// One vacuum: removes garbage and merges quiet neighbours. It may end between any two containers;
// its report then tells what was done, and its cursor where the next vacuum goes on.
import { crc32 } from 'node:zlib';
import { type Action, entryChange } from '../container/change.ts';
import { type EntityId, PROBE_PREFIX } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { VacuumReport } from '../contract/admin.ts';
import type { Engine } from '../engine/engine.ts';
import { asName, ByteReader, ByteWriter, checkCrc, compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { nodesPrefix } from '../format/entity-ids.ts';
import type { Position } from '../format/position.ts';
import { listIds } from '../io/send.ts';
import { type Levels, linkLevels, lookAt, readSeparators, type SeenNode, sideBySide } from './levels.ts';
import { removeEntity } from './lifecycle.ts';
import { finishPair, LeafMerger, type Tally, unlessDamaged } from './merge-leaves.ts';
import { isStripped, judge } from './orphans.ts';

/** The longest wait for the answers; a repair that meets others' commits pauses for seconds. */
const ANSWERED_MS_MAX = 60_000;

export interface VacuumTask {
  /** How long leaves must not have been written before they are merged. */
  readonly quietMs: number;
  /** No merge begins after this time of the monotonic clock. */
  readonly untilMs: number;
  /** Aborts when the call ends. */
  readonly ended: AbortSignal;
  readonly cursor: string | undefined;
  readonly onProgress: ((report: VacuumReport) => void) | undefined;
}

const NOTHING = {
  listed: 0,
  removed: 0,
  left: 0,
  foreign: 0,
  passed: 0,
  merged: 0,
  movedBytes: 0,
  stripped: 0,
  purged: 0,
  busy: 0,
  entriesDropped: 0,
};

export class Vacuum {
  readonly #engine: Engine;
  readonly #task: VacuumTask;
  readonly #tally: Tally = { ...NOTHING, damaged: new Set() };
  /** Where the next vacuum goes on; undefined: everything is done. */
  #cursor: string | undefined;
  /** From where leaves are merged; undefined: from the first, after orphans were judged. */
  readonly #from: Position | undefined;

  /** Throws `invalid` for a cursor that no vacuum of the table gave. */
  constructor(engine: Engine, task: VacuumTask) {
    this.#engine = engine;
    this.#task = task;
    const { cursor } = task;
    this.#from = cursor === undefined ? undefined : decodeVacuumCursor(cursor, engine.table);
    this.#cursor = encodeVacuumCursor(this.#from, engine.table);
  }

  /** What has been done by now. */
  get report(): VacuumReport {
    const { damaged, ...counts } = this.#tally;
    const cursor = this.#cursor === undefined ? {} : { cursor: this.#cursor };
    return { ...counts, merged: this.#engine.counters.merges, damaged: damaged.size, ...cursor };
  }

  /** Looks at every node, and after the quiet time again at those that may merge. */
  async run(): Promise<VacuumReport> {
    const engine = this.#engine;
    // Read before the leaves, so that no separator belongs to a later split.
    const separators = (await readSeparators(engine)) ?? [];
    const ids: EntityId[] = [];
    for await (const id of listIds(engine.driver, nodesPrefix(engine.table))) ids.push(id);
    this.#tally.listed = ids.length;
    const seen = await lookAt(engine, ids);
    const levels = await linkLevels(engine, seen);
    const sinceMs = engine.runtime.monotonicMs();
    const gone = levels === undefined ? [] : await this.#finishMerges(levels.leaves);
    if (this.#from === undefined) await this.#judge(ids, seen, levels);
    const isMerged = levels === undefined || (await this.#mergeLeaves({ levels, separators, gone, sinceMs }));
    if (isMerged) {
      this.#cursor = undefined;
      await clearProbes(engine);
    }
    return this.report;
  }

  /** Finishes merges that others began; returns the lows of the merged leaves. */
  async #finishMerges(leaves: readonly SeenNode[]): Promise<Position[]> {
    const gone: Position[] = [];
    const lefts = leaves.flatMap(({ state }, at) =>
      state === 'live' && leaves[at + 1]?.state === 'retired' ? [at] : [],
    );
    await sideBySide(lefts, async (at) => {
      for (let next = at + 1; leaves[next]?.state === 'retired'; next += 1) {
        if (!(await this.#finishMerge(leaves[at]!, leaves[next]!))) return;
        gone.push(leaves[next]!.low);
      }
    });
    return gone;
  }

  async #finishMerge(left: SeenNode, right: SeenNode): Promise<boolean> {
    const { reader } = this.#engine;
    const [base, retired] = await Promise.all([reader.readPages(left.id, []), reader.readPages(right.id, [])]);
    if (base?.header.state !== 'live' || retired?.header.state !== 'retired') return false;
    const now = await unlessDamaged(this.#tally, () => finishPair(this.#engine, base, retired, this.#tally));
    return now !== 'damaged' && now?.header.right !== retired.header.container;
  }

  async #judge(
    ids: readonly EntityId[],
    seen: ReadonlyMap<EntityId, SeenNode>,
    levels: Levels | undefined,
  ): Promise<void> {
    const isLeft = (id: EntityId): boolean => {
      const node = seen.get(id);
      return (
        levels?.linked.has(id) !== true && node !== undefined && !isStripped(this.#engine, node, levels?.incarnation)
      );
    };
    await sideBySide(ids.filter(isLeft), async (id) => {
      const fate = await judge(this.#engine, id, levels?.incarnation);
      if (fate !== 'lives') this.#tally[fate] += 1;
    });
    this.#goneBeyond(EMPTY_BYTES);
  }

  /** False if the time ended before the last leaf. */
  async #mergeLeaves(work: {
    readonly levels: Levels;
    readonly separators: readonly Position[];
    readonly gone: readonly Position[];
    readonly sinceMs: number;
  }): Promise<boolean> {
    const { runtime } = this.#engine;
    const { levels, separators, sinceMs } = work;
    const { quietMs, untilMs, ended } = this.#task;
    const waitMs = sinceMs + quietMs - runtime.monotonicMs();
    if (runtime.monotonicMs() + waitMs > untilMs) return false;
    if (waitMs > 0) await runtime.sleep(waitMs, ended);
    const named = new Set(separators.map(asName));
    const dropping: Promise<void>[] = [];
    const drop = (gone: readonly Position[]): void => {
      const stale = gone.filter((low) => named.has(asName(low)));
      dropping.push(this.#dropEntries(levels, stale));
    };
    drop([...work.gone, ...staleIn(separators, levels)]);
    const live = levels.leaves.filter(({ state }) => state === 'live');
    const owner = Math.max(
      0,
      live.findLastIndex(({ low }) => compareBytes(low, this.#from ?? EMPTY_BYTES) <= 0),
    );
    const merger = new LeafMerger(this.#engine, {
      tally: this.#tally,
      mayBegin: () => !ended.aborted && runtime.monotonicMs() < untilMs,
      onWindow: (next, gone) => {
        drop(gone);
        if (next !== undefined) this.#goneBeyond(next);
      },
    });
    const isDone = await merger.run(live.slice(owner));
    await Promise.all(dropping);
    return isDone;
  }

  /** Notes that all leaves left of `next` are done. */
  #goneBeyond(next: Position): void {
    this.#cursor = encodeVacuumCursor(next, this.#engine.table);
    this.#task.onProgress?.(this.report);
  }

  async #dropEntries({ incarnation }: Levels, stale: readonly Position[]): Promise<void> {
    this.#tally.entriesDropped += await dropEntries(this.#engine, incarnation, stale);
  }
}

/** The separators at which no leaf begins any more; none if a leaf was missing. */
function staleIn(separators: readonly Position[], { leaves, isWhole }: Levels): Position[] {
  if (!isWhole) return [];
  const lows = new Set(leaves.map(({ low }) => asName(low)));
  return separators.filter((separator) => !lows.has(asName(separator)));
}

/** Removes the entities by which drivers probed their provider (rule 25). */
async function clearProbes(engine: Engine): Promise<void> {
  for await (const id of listIds(engine.driver, PROBE_PREFIX)) await removeEntity(engine, id);
}

/**
 * Drops the entries of separators at which no leaf begins any more (rule 29); returns their number.
 */
async function dropEntries(engine: Engine, incarnation: Id64, stale: readonly Position[]): Promise<number> {
  if (stale.length === 0) return 0;
  let dropped = 0;
  let open = stale.length;
  const answered = new AbortController();
  const sink = {
    settled: (_: number, { kind }: { readonly kind: string }) => {
      if (kind === 'applied') dropped += 1;
      open -= 1;
      if (open === 0) answered.abort();
    },
  };
  const begunTick = engine.clock.now().tick;
  const action: Action = (current, found) => ({
    kind: current !== undefined && found === incarnation ? 'remove' : 'none',
  });
  const changes = stale.map((separator, index) => entryChange({ separator, level: 1, begunTick, action, sink, index }));
  engine.router.route(changes);
  // Unlike the repairs' own timers, this wait keeps the process alive.
  await engine.runtime.sleep(ANSWERED_MS_MAX, answered.signal);
  return dropped;
}

const AT_THE_BEGINNING = 0;
const MERGING = 1;

/**
 * A vacuum's cursor: the position from which leaves must still be merged, or undefined for the
 * beginning, where orphans must still be judged. Its CRC-32 covers the table's name, so that no
 * other table accepts it.
 */
function encodeVacuumCursor(from: Position | undefined, table: string): string {
  const writer = new ByteWriter(32);
  writer.u8(from === undefined ? AT_THE_BEGINNING : MERGING);
  if (from !== undefined) writer.bytes(from);
  writer.u32(crc32(writer.view(), crc32(table)));
  return writer.view().toString('base64url');
}

/** Throws `invalid` for a text that no vacuum of the table gave. */
function decodeVacuumCursor(cursor: string, table: string): Position | undefined {
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    checkCrc(bytes, 'cursor', crc32(table));
    const reader = new ByteReader(bytes);
    return reader.u8() === AT_THE_BEGINNING ? undefined : reader.bytes();
  } catch (cause) {
    const message = 'this cursor was not given by a vacuum of this table: begin anew, without it';
    throw new StoreError('invalid', message, { table, cause });
  }
}
