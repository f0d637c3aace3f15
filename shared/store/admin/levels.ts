// Walks the links of every level of a table, past every cache: vacuum's first look.
import { childrenOf } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import type { Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/ids.ts';
import { finishPair, type Tally, unlessDamaged } from './merge-pair.ts';

export interface Levels {
  readonly incarnation: Id64;
  /** Nodes of every level, the root excepted: only the others need a proof. */
  readonly linked: ReadonlySet<EntityId>;
  readonly leftmostLeaf: EntityId;
  /** By leaf: a later look compares them to tell which are quiet. */
  readonly commitCounts: Map<EntityId, number>;
  /** When the last leaf was seen, on the monotonic clock. */
  readonly sinceMs: number;
}

/** Undefined if there is no table. Finishes the merges that it meets. Cost: a read a node. */
export async function walkLevels(engine: Engine, tally: Tally): Promise<Levels | undefined> {
  const linked = new Set<EntityId>();
  const commitCounts = new Map<EntityId, number>();
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root?.header.state !== 'live') return undefined;
  if (root.header.level === 0) commitCounts.set(root.id, root.header.commitCount);
  let leftmost: Snapshot = root;
  while (leftmost.header.level > 0) {
    const first = childrenOf(leftmost, engine.table)[0]?.child;
    const below = first && (await engine.reader.readWhole(nodeId(engine.table, root.header.incarnation, first)));
    if (below === undefined) break;
    leftmost = below;
    for (let node: Snapshot | undefined = leftmost; node !== undefined;) {
      linked.add(node.id);
      if (node.header.level === 0) commitCounts.set(node.id, node.header.commitCount);
      ({ right: node } = await nextAfter(engine, node, tally));
    }
  }
  const seen = { commitCounts, sinceMs: engine.runtime.monotonicMs() };
  return { incarnation: root.header.incarnation, linked, leftmostLeaf: leftmost.id, ...seen };
}

/** `right` is undefined at the end of a level, or if it is missing. */
export interface Neighbours {
  readonly left: Snapshot;
  readonly right: Snapshot | undefined;
}

/** The right neighbour is as `look` reads it. A retired one is absorbed first, if it can be. */
export async function nextAfter(
  engine: Engine,
  node: Snapshot,
  tally: Tally,
  look: (id: EntityId) => Promise<Snapshot | undefined> = (id) => engine.reader.readPages(id, []),
): Promise<Neighbours> {
  let left = node;
  let finished: EntityId | undefined;
  while (left.header.right !== undefined) {
    const id = nodeId(engine.table, left.header.incarnation, left.header.right);
    const right = await look(id);
    if (right?.header.state !== 'retired' || left.header.state !== 'live' || finished === id) return { left, right };
    finished = id;
    const before = left;
    const taken = await unlessDamaged(tally, () => finishPair(engine, before, right, tally));
    if (taken === 'damaged') return { left, right };
    left = taken ?? left;
  }
  return { left, right: undefined };
}
