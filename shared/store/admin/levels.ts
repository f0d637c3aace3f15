// Vacuum's first look: reads every node of a table past every cache, and follows their links level
// by level. The nodes are read side by side, so their links stem from different moments; but a live
// node that was ever linked is still linked (invariant 2).
import { childrenOf, type RoutingEntry } from '../container/branch.ts';
import { pageBytesOf, type Snapshot } from '../container/snapshot.ts';
import type { EntityId } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import type { Header } from '../format/header.ts';
import type { Id64 } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import type { Position } from '../format/position.ts';

/** What a vacuum remembers of each node. */
export interface SeenNode extends Pick<
  Header,
  'incarnation' | 'state' | 'low' | 'right' | 'commitCount' | 'createdAtMs'
> {
  readonly id: EntityId;
  readonly pageBytes: number;
}

export interface Levels {
  readonly incarnation: Id64;
  /** The linked nodes of every level except the root; all others have to be judged. */
  readonly linked: ReadonlySet<EntityId>;
  /** The live and the retired leaves from left to right. */
  readonly leaves: readonly SeenNode[];
  /** False if a leaf was missing; the leaves to its right are then not in `leaves`. */
  readonly isWhole: boolean;
}

function seenNode({ id, header }: Snapshot): SeenNode {
  const { incarnation, state, low, right, commitCount, createdAtMs } = header;
  return { id, incarnation, state, low, right, commitCount, createdAtMs, pageBytes: pageBytesOf(header) };
}

/** Reads nodes by their ids, without those that are missing by now. */
export async function lookAt(engine: Engine, ids: readonly EntityId[]): Promise<Map<EntityId, SeenNode>> {
  const seen = new Map<EntityId, SeenNode>();
  await sideBySide(ids, async (id) => {
    const node = await engine.reader.readUnknown(id);
    if (node !== undefined) seen.set(id, seenNode(node));
  });
  return seen;
}

/** Undefined if there is no table. Cost: one read per level, and one per node not yet in `seen`. */
export async function linkLevels(engine: Engine, seen: Map<EntityId, SeenNode>): Promise<Levels | undefined> {
  const linked = new Set<EntityId>();
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root?.header.state !== 'live') return undefined;
  const { incarnation } = root.header;
  let leftmost: Snapshot = root;
  let level = { nodes: [seenNode(root)], isWhole: true };
  while (leftmost.header.level > 0) {
    const first = childrenOf(leftmost, engine.table)[0]?.child;
    const below = first && (await engine.reader.readWhole(nodeId(engine.table, incarnation, first)));
    if (below === undefined) return { incarnation, linked, leaves: [], isWhole: false };
    leftmost = below;
    level = await followLinks(engine, seen, below);
    for (const { id } of level.nodes) linked.add(id);
  }
  return { incarnation, linked, leaves: level.nodes, isWhole: level.isWhole };
}

/** The nodes of a level in order, beginning with the leftmost. */
async function followLinks(
  engine: Engine,
  seen: Map<EntityId, SeenNode>,
  leftmost: Snapshot,
): Promise<{ readonly nodes: SeenNode[]; readonly isWhole: boolean }> {
  const nodes = [seenNode(leftmost)];
  for (let at = nodes[0]!; at.right !== undefined;) {
    const id = nodeId(engine.table, at.incarnation, at.right);
    const next = seen.get(id) ?? (await readNode(engine, id));
    if (next?.state === 'live' || next?.state === 'retired') {
      nodes.push(next);
      at = next;
      continue;
    }
    // The node on the left may have absorbed this one after it was read.
    const again = await readNode(engine, at.id);
    if (again === undefined || again.right === at.right) return { nodes, isWhole: false };
    nodes[nodes.length - 1] = again;
    at = again;
  }
  return { nodes, isWhole: true };
}

async function readNode(engine: Engine, id: EntityId): Promise<SeenNode | undefined> {
  const node = await engine.reader.readPages(id, []);
  return node && seenNode(node);
}

/**
 * The separators in the branches above the leaves, read past every cache, in order, without the
 * first of each branch. Undefined if there is no such branch, or a gap.
 */
export async function readSeparators(engine: Engine): Promise<Position[] | undefined> {
  let branch = await engine.reader.readWhole(rootId(engine.table));
  if (branch?.header.state !== 'live' || branch.header.level === 0) return undefined;
  const { incarnation } = branch.header;
  const read = (container: Id64): Promise<Snapshot | undefined> =>
    engine.reader.readWhole(nodeId(engine.table, incarnation, container));
  while (branch !== undefined && branch.header.level > 1) {
    const first: RoutingEntry | undefined = childrenOf(branch, engine.table)[0];
    branch = first && (await read(first.child));
  }
  const separators: Position[] = [];
  while (branch !== undefined) {
    for (const { low } of childrenOf(branch, engine.table).slice(1)) separators.push(low);
    if (branch.header.right === undefined) return separators;
    branch = await read(branch.header.right);
  }
  return undefined;
}

/** The most items at a time, and the most leaves in one window of a vacuum. */
export const AT_A_TIME_MAX = 256;

/** Does the work for each item. After a failure it begins no further one, and rejects. */
export async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const item of waiting) {
      if (hasFailed) return;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME_MAX, items.length) }, worker));
}
