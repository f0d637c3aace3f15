// Removing what interrupted splits and drops left behind (rules 14, 17 and 18). A node is removed only after its origin was shown to have
// moved on, so that no split can link it any more, and a walk along its level, past every cache, has shown that nothing does.
// Age is no argument: instances sleep for hours.
import { childrenOf } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { successor } from '../container/successor.ts';
import { patchOf } from '../container/writes.ts';
import type { VacuumReport } from '../contract/api.ts';
import { type EntityId, PROBE_PREFIX } from '../contract/driver.ts';
import type { Engine } from '../engine/engine.ts';
import { compareBytes, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { encodeHeader, type Header } from '../format/header.ts';
import { nodeId, nodesPrefix, rootId } from '../format/ids.ts';
import { beforeBound } from '../format/position.ts';
import { drawId } from '../io/clock.ts';
import { listIds, sendRemoval, sendWrites } from '../io/requests.ts';

/** No level has as many nodes: a walk that takes more steps goes in a circle. */
const STEPS_MAX = 10_000_000;

type Fate = 'lives' | 'removed' | 'left';

/** Looks at every node of the table once; removes what is certainly unreachable. */
export async function vacuumTable(engine: Engine): Promise<VacuumReport> {
  const ids: EntityId[] = [];
  for await (const id of listIds(engine.driver, nodesPrefix(engine.table))) ids.push(id);
  const linked = await linkedNodes(engine);
  const report = { listed: ids.length, removed: 0, left: 0 };
  for (const id of ids) {
    if (linked.has(id)) continue;
    const fate = await judge(engine, id);
    if (fate === 'removed') report.removed += 1;
    if (fate === 'left') report.left += 1;
  }
  await clearProbes(engine);
  return report;
}

/** Ids reached by links alone, level by level: a first sieve, so that not every living node needs a proof of its own. Empty if the table does not exist. */
async function linkedNodes(engine: Engine): Promise<ReadonlySet<EntityId>> {
  const linked = new Set<EntityId>();
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root?.header.state !== 'live') return linked;
  let leftmost: Snapshot | undefined = root;
  while (leftmost !== undefined && leftmost.header.level > 0) {
    const first: Id64 | undefined = childrenOf(leftmost, engine.table)[0]?.child;
    leftmost = first === undefined ? undefined : await engine.reader.readWhole(childId(engine, leftmost.header, first));
    for (let node = leftmost; node !== undefined; node = await rightOf(engine, node)) linked.add(node.id);
  }
  return linked;
}

function childId(engine: Engine, header: Header, child: Id64): EntityId {
  return nodeId(engine.table, header.incarnation, child);
}

async function rightOf(engine: Engine, { header }: Snapshot): Promise<Snapshot | undefined> {
  return header.right === undefined ? undefined : engine.reader.readPages(childId(engine, header, header.right), []);
}

async function judge(engine: Engine, id: EntityId): Promise<Fate> {
  const node = await engine.reader.readPages(id, []);
  if (node === undefined || node.header.container === ROOT_CONTAINER) return 'lives';
  // A node of another incarnation may go only if the root is read after the node: then no recreation in between can own it.
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root === undefined) return 'left';
  const isForeign = root.header.incarnation !== node.header.incarnation || root.header.state === 'removed';
  if (isForeign) return remove(engine, node);
  if (root.header.state !== 'live') return 'left';
  if (!(await originHasMovedOn(engine, node.header))) return 'left';
  // Read again: what moved the origin on may have linked the node, from a root that grew, after the root was read above.
  const start = await engine.reader.readWhole(rootId(engine.table));
  if (start?.header.state !== 'live' || start.header.incarnation !== node.header.incarnation) return 'left';
  const reached = await isReached(engine, start, node);
  if (reached !== 'no') return reached === 'yes' ? 'lives' : 'left';
  return remove(engine, node);
}

/** (a) The split that made the node can no longer link it: its base is not the origin's version any more. Fences the origin if need be. */
async function originHasMovedOn(engine: Engine, { origin }: Header): Promise<boolean> {
  if (origin === undefined) return false;
  const now = await engine.reader.readPages(origin.id, []);
  if (now === undefined) return true;
  if (now.version !== origin.version) return true;
  await fence(engine, now);
  const after = await engine.reader.versionOf(origin.id);
  return after !== origin.version;
}

/** A commit that changes nothing but the count and the ids. Whether it landed, the next read tells. */
async function fence(engine: Engine, snapshot: Snapshot): Promise<void> {
  const attempt = drawId(engine.runtime);
  const encoded = encodeHeader(successor(snapshot.header, attempt));
  await sendWrites(engine, [patchOf(snapshot, encoded, { written: [], dropped: [] }, attempt)]);
}

/** (b) Walks the node's level, past every cache, to its low. A node missing on the way means: stop, never "unreachable". */
async function isReached(engine: Engine, root: Snapshot, target: Snapshot): Promise<'yes' | 'no' | 'unclear'> {
  const { low, level } = target.header;
  let at: Snapshot = root;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const { header } = at;
    if (header.level < level) return header.container === ROOT_CONTAINER ? 'no' : 'unclear';
    if (compareBytes(low, header.low) < 0) return 'unclear';
    const mustGoRight = !beforeBound(low, header.high);
    if (!mustGoRight && header.level === level) return at.id === target.id ? 'yes' : 'no';
    const next = mustGoRight ? header.right : childFor(engine, at, low);
    if (next === undefined) return 'unclear';
    const id = childId(engine, header, next);
    const isBranch = mustGoRight ? header.level > level : header.level - 1 > level;
    const read = isBranch ? await engine.reader.readWhole(id) : await engine.reader.readPages(id, []);
    if (read === undefined) return 'unclear';
    at = read;
  }
  return 'unclear';
}

function childFor(engine: Engine, branch: Snapshot, low: Uint8Array): Id64 | undefined {
  return childrenOf(branch, engine.table).findLast((child) => compareBytes(child.low, low) <= 0)?.child;
}

/** (c) Removes the node if it still has the version that was judged. */
async function remove(engine: Engine, node: Snapshot): Promise<Fate> {
  const outcome = await sendRemoval(engine, { id: node.id, version: node.version });
  if (outcome?.kind !== 'removed') return 'left';
  engine.cache.forget(node.id);
  return 'removed';
}

/** Removes the probes that drivers wrote to try their provider out. */
async function clearProbes(engine: Engine): Promise<void> {
  for await (const id of listIds(engine.driver, PROBE_PREFIX)) {
    const version = await engine.reader.versionOf(id);
    if (version === undefined) continue;
    await sendRemoval(engine, { id, version });
  }
}
