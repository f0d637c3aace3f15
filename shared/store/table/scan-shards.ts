// Cuts a table into ranges of about equal size. Any position is a valid cut, so hints suffice.
import { childrenOf } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { compareBytes, EMPTY_BYTES } from '../format/bytes.ts';
import { nodeId } from '../format/ids.ts';
import type { Position } from '../format/position.ts';
import { encodeCursor } from './cursor.ts';

const PARTITIONS_MAX = 1_024;

/** Cursors of up to `count` scans that together give each record once. Cost: reads of branches. */
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
