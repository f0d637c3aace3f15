// Absorbs a retired right neighbour (rule 27): one commit gives the left leaf the neighbour's
// records. Any process that meets such a pair may finish it; the write's condition lets one
// succeed.
import { copyOf, joinedSnapshot, relinkedSnapshot, fitsTogether } from '../container/join-leaves.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import { beforeBound } from '../format/position.ts';
import { drawAttempt, drawId } from '../io/draw-ids.ts';
import { commit } from './commit.ts';
import { type Absorbing, type Group, type Here, isCarrying, type Leaf, readOf, sortOut, type Step } from './leaf.ts';

/** After so many tries the pair is left to the next process that meets it. */
const ABSORB_TRIES_MAX = 16;

/**
 * The next step of absorbing: a read of the leaf or the neighbour, if either is not known whole;
 * the insert of a copy; or the commit. Undefined if nothing is left to absorb, after too many
 * tries, or when the attempt is over.
 */
export function absorb(leaf: Leaf, pair: Absorbing, left: Snapshot, here: Here): Step | undefined {
  const { world, now } = here;
  const isTriedOut = pair.tries > ABSORB_TRIES_MAX && !isCarrying(leaf);
  if (isTriedOut || pair.isGone || !isPair(left, pair)) return endAbsorbing(leaf, pair, left);
  if (!isWhole(left.header)) return { kind: 'read', id: leaf.id, what: 'intact', reader: 'container' };
  // A repair of the neighbour first gives the left leaf another version, so read after that.
  if (pair.right === undefined || pair.right.seen.tick < left.seen.tick)
    return { kind: 'read', id: pair.retired.id, what: 'intact', reader: 'neighbour' };
  if (pair.right.header.state !== 'retired') return endAbsorbing(leaf, pair, left);
  const base = joined(pair, left, pair.right, here);
  if ('kind' in base) return base;
  pair.tries += 1;
  leaf.known = left;
  // Changes for the copy wait, since nothing may be written to it before it is linked.
  const { here: changes } = sortOut(leaf, base.base, world.table);
  return commit(leaf, { ...base, snapshot: left, changes, now }, world);
}

function isPair({ header }: Snapshot, { retired }: Absorbing): boolean {
  return header.state === 'live' && header.right === retired.header.container;
}

/** The leaf joined with the neighbour, or linked to its copy; or the step that inserts the copy. */
function joined(
  pair: Absorbing,
  left: Snapshot,
  right: Snapshot,
  here: Here,
): Step | Required<Pick<Group, 'base' | 'maintenance'>> {
  const { rules } = here.world;
  // The leaf's entity has none of the neighbour's pages, so the whole leaf is written.
  if (fitsTogether(left.header, right.header, rules))
    return { base: joinedSnapshot(left, right, rules), maintenance: { mustReplace: true } };
  pair.copy ??= drawCopy(right, here);
  const { header, attempt } = pair.copy;
  if (pair.isCopyThere) return { base: relinkedSnapshot(left, header.container), maintenance: { mustReplace: false } };
  pair.tries += 1;
  return { kind: 'insert', headers: [header], attempt, withinMs: undefined };
}

function drawCopy(right: Snapshot, { world, now }: Here): NonNullable<Absorbing['copy']> {
  const attempt = drawAttempt(world);
  const container = drawId(world.runtime);
  return { header: copyOf(right, { attempt, container, nowMs: now.wallMs }, world.rules), attempt };
}

function endAbsorbing(leaf: Leaf, pair: Absorbing, left: Snapshot): Step | undefined {
  leaf.absorbing = undefined;
  mendParent(leaf, pair.retired, left);
  return isCarrying(leaf) ? readOf(leaf, []) : undefined;
}

/**
 * Corrects the neighbour's routing entry to name the leaf that now owns its positions. A vacuum
 * drops such entries itself.
 */
function mendParent({ entryRepairs, isMaintained }: Leaf, retired: Snapshot, { header }: Snapshot): void {
  const { container: instead, low: separator, incarnation } = retired.header;
  if (isMaintained || header.state !== 'live' || header.right === instead) return;
  const child = beforeBound(separator, header.high) ? header.container : header.right;
  if (child !== undefined) entryRepairs.push({ level: 1, incarnation, separator, child, instead });
}
