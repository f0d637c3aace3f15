// Works on a range of leaves, several at a time, and cuts a table into ranges. Branches only tell
// where to begin; each step says how far it came, so that no split or merge hides a record (rule
// 33).
import { childrenOf } from '../container/branch.ts';
import { countRecords } from '../container/count.ts';
import type { Range } from '../container/layers.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { orderChanged, saysNothingWritten, StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { lookToCount } from '../engine/find-records.ts';
import { compareBytes, EMPTY_BYTES, type Id64 } from '../format/bytes.ts';
import { nodeId } from '../format/entity-ids.ts';
import { beforeBound, type Position, type UpperBound } from '../format/position.ts';
import { checkIncarnation, encodeCursor } from './bounds.ts';
import type { TableContext } from './table-context.ts';

/** The most leaves at a time, all of which may be in memory. */
const LEAVES_AT_ONCE = 16;

/** The result of a step, for the positions below `reached`; undefined: for all. */
export interface Step {
  readonly count: number;
  readonly reached: UpperBound;
  readonly incarnation: Id64;
}

/** Works on the part of a range that lies in its first leaf. `incarnation`: undefined at first. */
export type DoStep = (range: Range, incarnation: Id64 | undefined) => Promise<Step>;

/**
 * Adds up the counts of all steps. After a failure no step begins, and those under way end. If any
 * failure leaves open whether something was written, throws that one.
 */
export async function sumOverLeaves(engine: Engine, { from, end }: Range, doStep: DoStep): Promise<number> {
  let sum = 0;
  let known: Id64 | undefined;
  const failures: unknown[] = [];
  /** Resolves with the step's `reached`; undefined also if any step failed. Never rejects. */
  const step = async (range: Range): Promise<UpperBound> => {
    if (failures.length > 0) return undefined;
    try {
      const { count, reached, incarnation } = await doStep(range, known);
      checkIncarnation(known, incarnation, engine.table);
      known = incarnation;
      sum += count;
      return reached;
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  };
  const walk = async (range: Range): Promise<void> => {
    for (let at: UpperBound = range.from; at !== undefined && beforeBound(at, range.end);)
      at = await step({ from: at, end: range.end });
  };
  for (let at: UpperBound = from; at !== undefined && beforeBound(at, end);) {
    // Only the first leaf tells the incarnation, so it goes alone.
    const lows = known === undefined ? [] : engine.tree.lowsAfter(at, LEAVES_AT_ONCE - 1);
    const starts: Position[] = [at, ...lows.filter((low) => beforeBound(low, end))];
    const walks = starts.slice(1).map((next, index) => walk({ from: starts[index]!, end: next }));
    // A branch may not name all leaves, so the last step tells where to go on.
    const reached = step({ from: starts.at(-1)!, end });
    await Promise.all(walks);
    at = await reached;
    if (failures.length > 0) throw failures.find((failure) => !saysNothingWritten(failure)) ?? failures[0];
  }
  return sum;
}

/** Counts the records of a range in its first leaf, by the page table alone where that suffices. */
export async function countFirstLeaf({ engine, order }: TableContext, range: Range): Promise<Step> {
  const { runtime, table, tree, turns } = engine;
  const leaf = await tree.find(range.from, (id) => lookToCount(engine, id, range));
  const { header } = leaf;
  if (header.order !== order) throw orderChanged(table);
  if (turns.isLong) await turns.pause();
  const { stored, expired } = countRecords(leaf, range, runtime.wallMs(), table);
  return { count: stored - expired, reached: header.high, incarnation: header.incarnation };
}

const PARTITIONS_MAX = 1_024;

/**
 * Cursors of up to `count` scans that together give each record once, in shares of about one size.
 * Cost: reads of branches. Any position is a valid cut, so hints suffice.
 */
export async function partition(engine: Engine, count: number): Promise<string[]> {
  const { table } = engine;
  if (!Number.isInteger(count) || count < 1 || count > PARTITIONS_MAX)
    throw new StoreError('invalid', `count must be a whole number from 1 to ${PARTITIONS_MAX}`, { table });
  const root = await engine.tree.root(true);
  const { order, incarnation } = root.header;
  const cuts = evenly(await separators(engine, root, count), count);
  return [EMPTY_BYTES, ...cuts].map((from, index) =>
    encodeCursor({ order, incarnation, from, end: cuts[index], isReverse: false }, table),
  );
}

/** The separators of the highest level that has enough of them, in order, each once. */
async function separators(engine: Engine, root: Snapshot, count: number): Promise<Position[]> {
  let branches = root.header.level === 0 ? [] : [root];
  for (;;) {
    const children = branches.flatMap((branch) => childrenOf(branch, engine.table));
    const isEnough = children.length >= count || (branches[0]?.header.level ?? 0) <= 1;
    if (isEnough) return distinct(children.slice(1).map(({ low }) => low));
    const ids = children.map(({ child }) => nodeId(engine.table, root.header.incarnation, child));
    const below = await Promise.all(ids.map((id) => engine.reader.readWhole(id)));
    branches = below.filter((node) => node !== undefined);
  }
}

function distinct(positions: readonly Position[]): Position[] {
  const sorted = positions.toSorted(compareBytes);
  return sorted.filter((one, index) => one.length > 0 && (index === 0 || compareBytes(one, sorted[index - 1]!) > 0));
}

/** At most `count` - 1 of the positions, at about equal distances. */
function evenly(positions: readonly Position[], count: number): Position[] {
  const cuts = Math.min(count - 1, positions.length);
  return Array.from(
    { length: cuts },
    (_, index) => positions[Math.floor(((index + 1) * positions.length) / (cuts + 1))]!,
  );
}
