// Judges a node that no link led to (rules 14, 17, 18 and 30). An orphan is removed once (a) its
// origin has moved on, so that no split can link it any more, and (b) another node owns its low.
// Age proves nothing, as processes sleep for hours. An absorbed leaf is stripped first, since
// caches may still lead to it.
import { childFor } from '../container/branch.ts';
import type { Snapshot } from '../container/snapshot.ts';
import { strippedHeader } from '../container/join-leaves.ts';
import { encodeHeader, type Header, successor } from '../format/header.ts';
import { patchOf, replaceOf } from '../container/plan-commit.ts';
import type { EntityId } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { compareBytes, type Id64, ROOT_CONTAINER } from '../format/bytes.ts';
import { nodeId, rootId } from '../format/entity-ids.ts';
import { beforeBound, within } from '../format/position.ts';
import { drawAttempt } from '../io/clock.ts';
import { sendRemoval, sendWrites } from '../io/send.ts';
import type { SeenNode } from './levels.ts';
import { wasDropped } from './lifecycle.ts';

/** No level has so many nodes, so a longer walk goes in a circle. */
const STEPS_MAX = 10_000_000;

/** An absorbed leaf's header stays for a day, longer than a request can be under way. */
export const STRIPPED_KEPT_MS = 24 * 60 * 60_000;

export type Fate = 'lives' | 'removed' | 'stripped' | 'left' | 'foreign';

/**
 * Judges a node that the walk did not meet. Cost: 1 request if merged lately, some 8 if orphaned.
 */
export async function judge(engine: Engine, id: EntityId, incarnation: Id64 | undefined): Promise<Fate> {
  const node = await engine.reader.readPages(id, []);
  if (node === undefined || node.header.container === ROOT_CONTAINER) return 'lives';
  const { state } = node.header;
  if (state === 'merged' && node.header.incarnation === incarnation && !isOld(engine, node)) return 'lives';
  const root = await engine.reader.readWhole(rootId(engine.table));
  if (root === undefined) return 'left';
  if (wasDropped(root.header, node.header.incarnation)) return remove(engine, node);
  if (root.header.incarnation !== node.header.incarnation) return 'foreign';
  if (root.header.state !== 'live') return 'left';
  if (state === 'retired') return (await strip(engine, node)) ? 'stripped' : 'left';
  if (state === 'merged') return isOld(engine, node) ? remove(engine, node) : 'lives';
  return judgeOrphan(engine, node);
}

async function judgeOrphan(engine: Engine, node: Snapshot): Promise<Fate> {
  if (!(await originHasMovedOn(engine, node.header))) return 'left';
  // The commit that moved the origin on may have linked the node, from a root that grew.
  const start = await engine.reader.readWhole(rootId(engine.table));
  if (start?.header.state !== 'live' || start.header.incarnation !== node.header.incarnation) return 'left';
  // Only another live node that owns its low proves that nothing links it.
  const owner = await (node.header.level === 0 ? ownerOf(engine, node) : branchOwning(engine, start, node));
  if (owner === undefined) return 'left';
  return owner.id === node.id ? 'lives' : remove(engine, node);
}

/** Whether this is a merged leaf whose header must stay for now. */
export function isStripped(engine: Engine, node: SeenNode, incarnation: Id64 | undefined): boolean {
  return node.state === 'merged' && node.incarnation === incarnation && !isOld(engine, { header: node });
}

/** If the wall clock was set back, the header stays longer. */
function isOld(engine: Engine, { header }: { readonly header: Pick<Header, 'createdAtMs'> }): boolean {
  return engine.runtime.wallMs() - header.createdAtMs > STRIPPED_KEPT_MS;
}

/**
 * (a) Whether the split that made the node can no longer link it, because the origin has another
 * version; if need be, by a write to the origin. A retired origin needs none (rule 14).
 */
async function originHasMovedOn(engine: Engine, { origin }: Header): Promise<boolean> {
  if (origin === undefined) return false;
  const now = await engine.reader.readPages(origin.id, []);
  if (now === undefined) return true;
  if (now.version !== origin.version || now.header.state === 'retired') return true;
  await fence(engine, now);
  const after = await engine.reader.versionOf(origin.id);
  return after !== origin.version;
}

/** Commits no change, only a new version. The next read tells whether that landed. */
export async function fence(engine: Engine, snapshot: Snapshot): Promise<void> {
  const attempt = drawAttempt(engine);
  const encoded = encodeHeader(successor(snapshot.header, attempt));
  await sendWrites(engine, [patchOf(snapshot, encoded, { written: [], dropped: [] }, attempt)]);
}

/**
 * (b) The owner of a branch's low, or a root below that level. Undefined if that is not certain.
 */
async function branchOwning(engine: Engine, root: Snapshot, target: Snapshot): Promise<Snapshot | undefined> {
  const { low, level, incarnation } = target.header;
  let at: Snapshot = root;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    const { header } = at;
    if (header.level < level) return header.container === ROOT_CONTAINER ? at : undefined;
    if (compareBytes(low, header.low) < 0) return undefined;
    const mustGoRight = !beforeBound(low, header.high);
    if (!mustGoRight && header.level === level) return at;
    const next = mustGoRight ? header.right : childFor(at, low, engine.table).child;
    if (next === undefined) return undefined;
    const read = await engine.reader.readWhole(nodeId(engine.table, incarnation, next));
    if (read === undefined) return undefined;
    at = read;
  }
  return undefined;
}

/** Removes the node on condition of the version that was judged. */
async function remove(engine: Engine, node: Snapshot): Promise<Fate> {
  const outcome = await sendRemoval(engine, { id: node.id, version: node.version });
  if (outcome?.kind !== 'removed') return 'left';
  engine.cache.forget(node.id);
  return 'removed';
}

/**
 * Strips a retired leaf to a `merged` header, once `owner` or a search past every cache shows
 * another live leaf that owns its low. False otherwise; the next vacuum tries again.
 */
export async function strip(engine: Engine, retired: Snapshot, owner?: Snapshot): Promise<boolean> {
  if (!isOwnedBy(owner, retired) && !isOwnedBy(await ownerOf(engine, retired), retired)) return false;
  const attempt = drawAttempt(engine);
  const header = strippedHeader(retired.header, attempt, engine.runtime.wallMs());
  const outcome = await engine.writeBatcher.send(replaceOf(retired, header, attempt), false, () => true);
  return outcome.kind === 'written';
}

function isOwnedBy(owner: Snapshot | undefined, { id, header }: Snapshot): boolean {
  if (owner === undefined || owner.id === id || owner.header.state !== 'live') return false;
  return owner.header.incarnation === header.incarnation && within(header.low, owner.header.low, owner.header.high);
}

/** The live leaf that owns the low, read past every cache; undefined if that is not certain. */
async function ownerOf(engine: Engine, { header }: Snapshot): Promise<Snapshot | undefined> {
  try {
    const found = await engine.tree.leafFromTheLeft(header.incarnation, header.low);
    return found?.retired === undefined ? found?.live : undefined;
  } catch (error) {
    // Stale entries may mislead the search. Vacuum goes on, and drops them later.
    if (error instanceof StoreError && (error.code === 'corrupt' || error.code === 'unavailable')) return undefined;
    throw error;
  }
}
