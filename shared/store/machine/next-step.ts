// Decides what a process does next with one container. A round first finishes what was begun, then
// pauses if it must, reads what it lacks, and makes one attempt at a commit: for its changes, or to
// absorb its retired right neighbour. `tell.ts` has what an answer changes, and
// `container/attempts.ts` judges which attempts landed.
import { firstDueMs } from '../container/attempts.ts';
import { planCompaction, slotsToCommit } from '../container/compaction.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import type { SortedChanges } from '../container/decide.ts';
import type { Moment } from '../contract/runtime.ts';
import { asBuffer } from '../format/bytes.ts';
import { rootId } from '../format/entity-ids.ts';
import { ageAt, drawAttempt, drawId } from '../io/clock.ts';
import { count } from '../system/tracing.ts';
import { PAGE_READS_MAX } from '../io/reads.ts';
import { LOST_AFTER_MS } from '../io/send.ts';
import { commit, goOn, loseFrozenSplit } from './commit.ts';
import { type Advice, advise, note } from './contention.ts';
import {
  type Absorbing,
  doublingsOf,
  type Group,
  hasWork,
  isAwaited,
  isCarrying,
  type Leaf,
  type Present,
  readOf,
  sortOut,
  type Step,
  type World,
} from './leaf.ts';
import { copyOf, fitsTogether, joinedSnapshot, relinkedSnapshot } from '../container/join-leaves.ts';
import { beforeBound } from '../format/position.ts';

/**
 * An older snapshot is read before a commit. A merged leaf's header, by which attempts are settled,
 * is removed after 24 h (rule 30), and half of that leaves room for slow clocks.
 */
const REMEMBERED_MS = 12 * 60 * 60_000;
/** A pause is cut into pieces, so that one which nobody waits for any more ends soon. */
const PIECE_MS = 100;
/** Near a caller's deadline a read asks sooner what became of a write, but not sooner than this. */
const SETTLING_READ_LEAST_MS = 100;

/**
 * The step that follows from this state. The caller carries it out and tells the event that came of
 * it before it asks for the next step. While a write is under way the step is `answer`, or one read
 * to be done beside the write.
 */
export function nextStep(leaf: Leaf, present: Present): Step {
  const { world, now } = present;
  if (leaf.underWay !== undefined) return whileUnderWay(leaf);
  if (leaf.stage !== undefined) return goOn(leaf, leaf.stage, present) ?? nextStep(leaf, present);
  // Neither under way nor being settled: the link of the split for contention has failed.
  if (leaf.frozenLink !== undefined) loseFrozenSplit(leaf, world, now.monotonicMs);
  if (!hasWork(leaf)) return { kind: 'idle' };
  const pause = nextPause(leaf, present);
  if (pause !== undefined) return pause;
  leaf.tried = undefined;
  const known = latest(leaf, world);
  if (known !== undefined) leaf.open.settle(known);
  if (!hasWork(leaf)) return { kind: 'idle' };
  if (known === undefined) return leaf.isMissing ? sendFromMissing(leaf, world) : readOf(leaf, 'unknown');
  if (leaf.purge !== undefined) return purge(leaf, leaf.purge, present);
  if (leaf.absorbing !== undefined) return absorb(leaf, leaf.absorbing, known, present) ?? nextStep(leaf, present);
  const sorted = sortOut(leaf, known, world.table);
  return sendOn(leaf, known, sorted) ?? nextForGroup(leaf, known, sorted, present);
}

/**
 * Rule 3: if the write may be lost, a read tells what became of it. If the container still has the
 * base version, one more attempt may compete with the first (`tell.ts`).
 */
function whileUnderWay(leaf: Leaf): Step {
  if (!leaf.isLate) return { kind: 'answer' };
  leaf.isLate = false;
  return { kind: 'read', id: leaf.id, what: [], purpose: 'late write' };
}

/** How long to wait for the answer of the write under way before a read asks what became of it. */
export function lateAfterMs({ underWay }: Leaf, nowMs: number): number {
  const leftMs = firstDueMs(underWay?.changes ?? []) - nowMs;
  return Math.min(LOST_AFTER_MS, Math.max(SETTLING_READ_LEAST_MS, leftMs / 2));
}

/**
 * The newer of the cache's snapshot and the leaf's own: the cache may lack room for a container.
 */
function latest(leaf: Leaf, { cache }: World): Snapshot | undefined {
  const { known } = leaf;
  const cached = leaf.isMissing ? undefined : cache.get(leaf.id);
  if (known === undefined || cached === undefined) return known ?? cached;
  return cached.header.commitCount > known.header.commitCount ? cached : known;
}

/** A pause after failures, or while other processes come first. Undefined if none is due. */
function nextPause(leaf: Leaf, present: Present): Step | undefined {
  if (leaf.isPauseDue) {
    leaf.isPauseDue = false;
    const doubt = beginBackoff(leaf, present);
    if (doubt !== undefined) return doubt;
  }
  const { pause } = leaf;
  if (pause === undefined) return undefined;
  if (pause.kind === 'backoff' && (pause.leftMs <= 0 || !isAwaited(leaf))) {
    leaf.pause = undefined;
    return undefined;
  }
  const ms = pause.kind === 'backoff' ? Math.min(pause.leftMs, PIECE_MS) : pause.leftMs;
  pause.leftMs -= ms;
  return { kind: 'pause', ms, canBeWoken: pause.kind === 'entry repairs' };
}

/**
 * Rule 7: if the pause would take half of a caller's remaining time or more, a read before it tells
 * whether the throttled attempt landed after all. Without that answer its outcome is unknown.
 */
function beginBackoff(leaf: Leaf, { world, now }: Present): Step | undefined {
  const doublings = doublingsOf(leaf);
  if (doublings === 0) return undefined;
  const areEntryRepairs = hasWork(leaf) && !isAwaited(leaf);
  const ms = leaf.backoff.pauseMs(doublings, areEntryRepairs, drawShare(world));
  leaf.pause = { kind: areEntryRepairs ? 'entry repairs' : 'backoff', leftMs: ms };
  const leftMs = leaf.open.doubtDueMs - now.monotonicMs;
  if (areEntryRepairs || leftMs <= 0 || ms < leftMs / 2) return undefined;
  return { kind: 'read', id: leaf.id, what: [], purpose: 'doubt', withinMs: leftMs };
}

/** A random share from 0 to 1. */
function drawShare({ runtime }: World): number {
  return asBuffer(runtime.random(2)).readUInt16BE() / 0xffff;
}

/** A missing leaf's content is sought to its left, a missing branch anew (rules 15 and 28). */
function sendFromMissing(leaf: Leaf, { table }: World): Step {
  leaf.isMissing = false;
  leaf.absorbing = undefined;
  leaf.purge = undefined;
  const changes = leaf.changes.splice(0);
  const isLeaf = changes.every(({ level }) => level === 0) && leaf.id !== rootId(table);
  return { kind: 'send on', way: isLeaf ? 'left' : 'missing', node: undefined, changes };
}

function purge(leaf: Leaf, snapshot: Snapshot, present: Present): Step {
  leaf.purge = undefined;
  return tryCommit(leaf, present, { snapshot, base: snapshot, changes: [], now: present.now, maintenance: 'purge' });
}

/**
 * Sends on the changes that belong elsewhere, one direction for each step. No open attempt carries
 * them, because `settle` has ended every attempt whose base is not this version.
 */
function sendOn(leaf: Leaf, node: Snapshot, { right, gone, restart }: SortedChanges): Step | undefined {
  const changes = [right, gone, restart].find(({ length }) => length > 0);
  if (changes === undefined) return undefined;
  const sent = new Set(changes);
  leaf.changes = leaf.changes.filter((change) => !sent.has(change));
  return { kind: 'send on', way: changes === right ? 'right' : changes === gone ? 'left' : 'again', node, changes };
}

function nextForGroup(leaf: Leaf, known: Snapshot, sorted: SortedChanges, present: Present): Step {
  const { world, now } = present;
  const { here: group, later } = sorted;
  leaf.changes = [...group, ...later];
  if (group.length === 0) return { kind: 'idle' };
  leaf.tried = { snapshot: known, group };
  leaf.advice = advise(world.contention, known, now.monotonicMs, () => drawShare(world));
  if (isReadDue(leaf, known, leaf.advice, now)) {
    count(world, 'readsFirst');
    return readOf(leaf, slotsToCommit(known, group), known);
  }
  if (leaf.advice.yieldMs > 0) {
    note(world.contention, leaf.id, { kind: 'yield', after: known.lastCommit }, now.monotonicMs);
    leaf.pause = { kind: 'yield', leftMs: leaf.advice.yieldMs };
    return nextStep(leaf, present);
  }
  const { unread, target } = planCompaction(known, group);
  if (unread.length > 0) {
    count(world, 'cacheMisses', group.length);
    leaf.pageReads += 1;
    const slots = unread.map(({ slot }) => slot);
    return readOf(leaf, leaf.pageReads > PAGE_READS_MAX ? 'intact' : slots);
  }
  leaf.pageReads = 0;
  count(world, 'cacheHits', group.length);
  return tryCommit(leaf, present, { snapshot: known, base: known, changes: group, now, target });
}

/** A refusal costs a read and another commit; a read now makes it unlikely. */
function isReadDue(leaf: Leaf, known: Snapshot, { readFirst }: Advice, now: Moment): boolean {
  if (leaf.wasReadSince) return false;
  return leaf.mustRead || readFirst || ageAt(known.seen, now) > REMEMBERED_MS;
}

function tryCommit(leaf: Leaf, present: Present, group: Group): Step {
  leaf.known = group.snapshot;
  return commit(leaf, group, present.world) ?? nextStep(leaf, present);
}

/** After so many tries the pair is left to the next process that meets it. */
const ABSORB_TRIES_MAX = 16;

/**
 * The next step of absorbing: a read of the leaf or the neighbour, if either is not known whole;
 * the insert of a copy; or the commit. Undefined if nothing is left to absorb, after too many
 * tries, or when the attempt is over.
 */
function absorb(leaf: Leaf, pair: Absorbing, left: Snapshot, present: Present): Step | undefined {
  const { world, now } = present;
  const isTriedOut = pair.tries > ABSORB_TRIES_MAX && !isCarrying(leaf);
  if (isTriedOut || pair.isMissing || !isPair(left, pair)) return endAbsorbing(leaf, pair, left);
  if (!isWhole(left.header)) return { kind: 'read', id: leaf.id, what: 'intact', purpose: 'container' };
  // A repair of the neighbour first gives the left leaf another version, so read after that.
  if (pair.right === undefined || pair.right.seen.tick < left.seen.tick)
    return { kind: 'read', id: pair.retired.id, what: 'intact', purpose: 'neighbour' };
  if (pair.right.header.state !== 'retired') return endAbsorbing(leaf, pair, left);
  const content = baseOfBoth(pair, left, pair.right, present);
  if ('kind' in content) return content;
  pair.tries += 1;
  leaf.known = left;
  // Changes for the copy wait, since nothing may be written to it before it is linked.
  const { here: changes } = sortOut(leaf, content.base, world.table);
  return commit(leaf, { ...content, snapshot: left, changes, now }, world);
}

function isPair({ header }: Snapshot, { retired }: Absorbing): boolean {
  return header.state === 'live' && header.right === retired.header.container;
}

/** The leaf joined with the neighbour, or linked to its copy; or the step that inserts the copy. */
function baseOfBoth(
  pair: Absorbing,
  left: Snapshot,
  right: Snapshot,
  present: Present,
): Step | Required<Pick<Group, 'base' | 'maintenance'>> {
  const { rules } = present.world;
  // The leaf's entity has none of the neighbour's pages, so the whole leaf is written.
  if (fitsTogether(left.header, right.header, rules))
    return { base: joinedSnapshot(left, right, rules), maintenance: { mustReplace: true } };
  pair.copy ??= drawCopy(right, present);
  const { header, attempt } = pair.copy;
  if (pair.isCopyThere) return { base: relinkedSnapshot(left, header.container), maintenance: { mustReplace: false } };
  pair.tries += 1;
  return { kind: 'insert', headers: [header], attempt, withinMs: undefined };
}

function drawCopy(right: Snapshot, { world, now }: Present): NonNullable<Absorbing['copy']> {
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
