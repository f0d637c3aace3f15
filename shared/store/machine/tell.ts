// Takes in an event: updates what is known of the container, and tells callers their verdicts.
// After `unknown`, or a condition that failed, only a read settles an attempt, never a guess (rules
// 3 to 5). The other refusals follow rule 7.
import { type Attempt, dropEntryRepairs, dropRefusedEntryRepairs, failAll, settleAll } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { planCompaction } from '../container/compaction.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { Refused, Unknown } from '../contract/driver.ts';
import { refusedError, StoreError } from '../contract/errors.ts';
import type { Moment } from '../contract/runtime.ts';
import type { Header } from '../format/header.ts';
import { compareBytes } from '../format/bytes.ts';
import { nodeId } from '../format/entity-ids.ts';
import { beforeBound } from '../format/position.ts';
import { count } from '../system/tracing.ts';
import { loseFrozenSplit, send } from './commit.ts';
import { note } from './contention.ts';
import {
  Absorbing,
  type Event,
  type Present,
  type InsertedNode,
  isCarrying,
  type Leaf,
  type Stage,
  type Step,
  type World,
} from './leaf.ts';

/** Returns the step that must follow at once; undefined: ask `nextStep`. */
export function tell(leaf: Leaf, event: Event, present: Present): Step | undefined {
  const { world } = present;
  switch (event.kind) {
    case 'inserted':
      return inserted(leaf, event, present);
    case 'failed':
      return failed(leaf, event, present);
    case 'came':
      came(leaf, event, present);
      break;
    case 'shown':
      shown(leaf, event, present);
      break;
    case 'checked':
      checked(leaf, event.isCurrent);
      break;
    case 'pause over':
      pauseOver(leaf, world);
      break;
    case 'answered':
      answered(leaf, event, present);
      break;
    case 'late':
      leaf.isLate = true;
      break;
    default:
      event satisfies never;
  }
  return undefined;
}

function came(leaf: Leaf, { changes, retired }: Extract<Event, { kind: 'came' }>, { now }: Present): void {
  const { throttling } = leaf.backoff;
  for (const change of changes) {
    change.queuedMs = now.monotonicMs;
    change.throttling = throttling;
    leaf.changes.push(change);
  }
  if (retired !== undefined) leaf.absorbing ??= new Absorbing(retired);
}

function pauseOver(leaf: Leaf, world: World): void {
  const { pause } = leaf;
  if (pause === undefined || pause.leftMs > 0) return;
  leaf.pause = undefined;
  if (pause.kind !== 'yield') return;
  count(world, 'yields');
  // Others had time to write, so the container may look different now.
  leaf.wasReadSince = false;
  leaf.mustRead = true;
}

function shown(leaf: Leaf, { purpose, snapshot }: Extract<Event, { kind: 'shown' }>, present: Present): void {
  if (purpose === 'neighbour') return shownNeighbour(leaf, snapshot);
  note(present.world.contention, leaf.id, { kind: 'read' }, present.now.monotonicMs);
  leaf.known = snapshot;
  leaf.isMissing = snapshot === undefined;
  leaf.wasReadSince = true;
  leaf.mustRead = false;
  const { stage } = leaf;
  if (purpose === 'doubt') return leaf.open.settleAndClear(snapshot);
  if (purpose === 'container' && stage?.kind === 'fate') return fateShown(leaf, stage, snapshot);
  leaf.open.settle(snapshot);
  if (purpose === 'late write') shownWhileUnderWay(leaf, present);
}

function shownNeighbour({ absorbing }: Leaf, snapshot: Snapshot | undefined): void {
  if (absorbing === undefined) return;
  absorbing.right = snapshot;
  absorbing.isMissing = snapshot === undefined;
}

function fateShown(leaf: Leaf, stage: Extract<Stage, { kind: 'fate' }>, snapshot: Snapshot | undefined): void {
  leaf.stage = undefined;
  if (stage.clears) leaf.open.settleAndClear(snapshot);
  else leaf.open.settle(snapshot);
  // The base still stands, so no other commit was the reason: an attempt at once would fail alike.
  if (stage.isRefused && leaf.open.has(stage.attempt)) leaf.backoff.failuresInARow += 1;
}

/**
 * Rule 3: a read was answered before the write under way. If the container still has that write's
 * base version, its answer is no longer waited for, and one more attempt competes with it.
 */
function shownWhileUnderWay(leaf: Leaf, present: Present): void {
  const { underWay } = leaf;
  if (underWay === undefined || !leaf.hasDeparted) return;
  if (!leaf.open.has(underWay)) leaf.underWay = undefined;
  else if (leaf.overdue === undefined) {
    leaf.overdue = underWay;
    leaf.underWay = undefined;
    leaf.isPauseDue = true;
    askForFate(leaf, underWay, { kind: 'unknown', reason: 'other' }, { ...present, sent: present.now });
  }
}

function checked(leaf: Leaf, isCurrent: boolean): void {
  const { stage } = leaf;
  if (!isCurrent) return;
  if (stage?.kind === 'split') leaf.stage = { ...stage, isChecked: true };
  if (stage?.kind !== 'negatives') return;
  settleAll(stage.group.changes, stage.evaluation.verdicts);
  leaf.stage = undefined;
}

function answered(
  leaf: Leaf,
  { attempt, outcome, sent }: Extract<Event, { kind: 'answered' }>,
  present: Present,
): void {
  if (leaf.underWay !== attempt) return;
  leaf.underWay = undefined;
  if (outcome.kind === 'written') return acknowledged(leaf, attempt, { version: outcome.version, seen: sent }, present);
  leaf.isPauseDue = true;
  if (outcome.kind === 'taken back') return;
  if (outcome.kind === 'unknown' || outcome.reason === 'condition')
    askForFate(leaf, attempt, outcome, { ...present, sent });
  else turnedAway(leaf, attempt, outcome, { ...present, sent });
}

function acknowledged(
  leaf: Leaf,
  attempt: Attempt,
  written: Pick<Snapshot, 'version' | 'seen'>,
  { world, now }: Present,
): void {
  const { cache, contention } = world;
  note(contention, leaf.id, { kind: 'commit', changes: attempt.changes }, now.monotonicMs);
  leaf.known = cache.offer({ id: leaf.id, ...written, header: attempt.header, lastCommit: attempt.id });
  leaf.isMissing = false;
  count(world, 'commits');
  leaf.backoff.end();
  leaf.wasReadSince = false;
  leaf.mustSplit = false;
  leaf.open.acknowledge(attempt);
  const { frozen } = leaf;
  leaf.frozen = undefined;
  // Another process may have committed since.
  if (frozen === undefined || leaf.known.lastCommit !== attempt.id) return;
  note(contention, leaf.id, { kind: 'freeze', by: attempt.id }, now.monotonicMs);
  leaf.stage = { kind: 'frozen', by: attempt.id, frozen };
}

/** Rule 7: the provider turned the whole request away, or the request never left this machine. */
function turnedAway(
  leaf: Leaf,
  attempt: Attempt,
  refused: Refused,
  { world, now, sent }: Present & { readonly sent: Moment },
): void {
  const refusal = refusedError(refused, world.table, leaf.id);
  const times = { sentMs: sent.monotonicMs, nowMs: now.monotonicMs, table: world.table };
  if (refused.reason === 'throttled') {
    attempt.answer = 'throttled';
    noteTurnedAway(leaf, refusal, attempt.changes, times);
    // A read at once could only find earlier attempts: this one was turned away.
    if (leaf.open.mayLand) leaf.stage = { kind: 'fate', attempt, isRefused: false, clears: true };
    return;
  }
  leaf.open.withdraw(attempt);
  // Nothing was sent, so another attempt may follow without a read.
  if (refused.reason === 'unsent') return noteTurnedAway(leaf, refusal, attempt.changes, times);
  // This refusal is final, except that one for size leads to one forced split first.
  leaf.mustSplit = refused.reason === 'limit' && !leaf.mustSplit;
  if (!leaf.mustSplit) failAll(attempt.changes, refusal, world.table);
}

function askForFate(
  leaf: Leaf,
  attempt: Attempt,
  outcome: Refused | Unknown,
  { world, now, sent }: Present & { readonly sent: Moment },
): void {
  const isRefused = outcome.kind === 'refused';
  const tookMs = now.monotonicMs - sent.monotonicMs;
  note(world.contention, leaf.id, { kind: 'failure', isRefused, tookMs }, now.monotonicMs);
  leaf.backoff.noteSent();
  if (isRefused) {
    attempt.answer = 'refused';
    count(world, 'conflicts');
    dropRefusedEntryRepairs(attempt.changes);
  } else {
    dropEntryRepairs(attempt.changes);
    if (outcome.reason === 'throttled') leaf.backoff.noteThrottled();
    else leaf.backoff.failuresInARow += 1;
    count(world, 'unknownOutcomes');
  }
  leaf.stage = { kind: 'fate', attempt, isRefused, clears: false };
}

/** Rule 9: once all new nodes are known to be stored, the link is written. */
function inserted(
  leaf: Leaf,
  { nodes, refusal }: Extract<Event, { kind: 'inserted' }>,
  { world, now }: Present,
): Step | undefined {
  const { stage, absorbing } = leaf;
  if (stage?.kind !== 'split') {
    if (absorbing !== undefined) {
      absorbing.isCopyThere = nodes !== undefined;
      absorbing.unsureInARow = nodes !== undefined ? 0 : absorbing.unsureInARow + 1;
      leaf.isPauseDue = nodes === undefined;
    }
    return undefined;
  }
  leaf.stage = undefined;
  const { draft, plan, withinMs, isKept } = stage;
  if (nodes !== undefined) return link(leaf, stage, nodes, { world, now });
  if (refusal === undefined) leaf.backoff.failuresInARow += 1;
  else {
    const { monotonicMs: nowMs } = now;
    noteTurnedAway(leaf, refusal, draft.changes, { sentMs: nowMs, nowMs, table: world.table });
    if (isKept) leaf.throttledSplit = { draft, plan };
  }
  dropEntryRepairs(draft.changes);
  leaf.isPauseDue = true;
  if (withinMs !== undefined) loseFrozenSplit(leaf, world, now.monotonicMs);
  return undefined;
}

function link(
  leaf: Leaf,
  { draft, plan: { left }, withinMs }: Extract<Stage, { kind: 'split' }>,
  nodes: readonly InsertedNode[],
  present: Present,
): Step | undefined {
  const landed = (): void => {
    leaf.frozenLink = undefined;
    draft.landed();
    announce(leaf, left.header, nodes, present);
  };
  const attempt: Attempt = { ...draft, header: left.header, landed };
  leaf.frozenLink = withinMs === undefined ? undefined : attempt;
  leaf.frozen = undefined;
  return send(leaf, left.write, attempt);
}

/**
 * Caches the new nodes, and tells their parent of them unless the root that split is the parent.
 */
function announce(leaf: Leaf, left: Header, nodes: readonly InsertedNode[], { world, now }: Present): void {
  const { cache, table, contention } = world;
  count(world, 'splits');
  const ids = nodes.map(({ header }) => nodeId(table, header.incarnation, header.container));
  const parts = left.level === 0 ? [leaf.id, ...ids] : ids;
  note(contention, leaf.id, { kind: 'split', nodes: parts }, now.monotonicMs);
  for (const { header, snapshot } of nodes) {
    if (snapshot !== undefined) cache.offer(snapshot);
    const { level, incarnation, low: separator, container: child } = header;
    if (left.level === level)
      leaf.entryRepairs.push({ level: level + 1, incarnation, separator, child, instead: undefined });
  }
}

/** Changes that were never sent fail with this error; the others may still be settled by a read. */
function failed(
  leaf: Leaf,
  { purpose, error }: Extract<Event, { kind: 'failed' }>,
  { world, now }: Present,
): Step | undefined {
  // The write's own answer, or the next read, will settle it.
  if (purpose === 'late write' || purpose === 'doubt') return undefined;
  const { stage, absorbing } = leaf;
  leaf.stage = undefined;
  leaf.underWay = undefined;
  const isForContention = stage?.kind === 'frozen' || (stage?.kind === 'split' && stage.withinMs !== undefined);
  // If the trouble lasts, the next commit meets it, and has a caller to tell.
  if (isForContention && error instanceof StoreError) {
    loseFrozenSplit(leaf, world, now.monotonicMs);
    return undefined;
  }
  leaf.known = undefined;
  leaf.pageReads = 0;
  if (leaf.isMaintained) {
    leaf.failure = { error };
    leaf.absorbing = undefined;
    leaf.purge = undefined;
    return undefined;
  }
  if (absorbing !== undefined && isDamage(error)) return giveUpAbsorbing(leaf, absorbing.retired, error, world);
  const damaged = isDamage(error) ? needingDamaged(leaf) : [];
  if (damaged.length > 0) {
    failAll(damaged, error, world.table);
    return undefined;
  }
  const canRecover = error instanceof StoreError && error.retryable;
  const isSent = (change: Change): boolean => canRecover && !change.isEntryRepair && change.openAttempts > 0;
  failAll(
    leaf.changes.filter((change) => !isSent(change)),
    error,
    world.table,
  );
  // The next writer that meets the retired neighbour tries again.
  if (!isCarrying(leaf)) leaf.absorbing = undefined;
  if (error instanceof StoreError && error.code === 'throttled') leaf.backoff.noteThrottled();
  else leaf.backoff.failuresInARow += 1;
  leaf.isPauseDue = true;
  return undefined;
}

function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'corrupt';
}

/**
 * Notes that changes, or nodes that they need, were throttled or could not be sent: for the pause,
 * and for the callers' errors. Changes that were never sent fail once that has lasted too long
 * (rule 7).
 */
function noteTurnedAway(
  { backoff }: Leaf,
  refusal: StoreError,
  changes: readonly Change[],
  { sentMs, nowMs, table }: { readonly sentMs: number; readonly nowMs: number; readonly table: string },
): void {
  for (const change of changes) change.throttling = refusal;
  dropEntryRepairs(changes);
  if (refusal.code === 'throttled') backoff.noteThrottled(refusal);
  else if (backoff.noteUnsent(refusal, Math.min(sentMs, nowMs), nowMs))
    failAll(
      changes.filter(({ openAttempts }) => !refusal.retryable || openAttempts === 0),
      refusal,
      table,
    );
}

/** The changes that need a damaged page even when committed alone; the rest can be retried. */
function needingDamaged({ tried }: Leaf): Change[] {
  if (tried === undefined) return [];
  return tried.group.filter((change) =>
    planCompaction(tried.snapshot, [change]).unread.some(({ content }) => content.damage !== undefined),
  );
}

/** Leaves a damaged neighbour: its keys fail, and changes beyond it follow its link, once. */
function giveUpAbsorbing(leaf: Leaf, retired: Snapshot, damage: StoreError, world: World): Step {
  const { low, high } = retired.header;
  const others = leaf.changes.filter(({ position }) => !beforeBound(position, low));
  const lost = others.filter(
    ({ position, passedLow }) =>
      beforeBound(position, high) || (passedLow !== undefined && compareBytes(passedLow, low) >= 0),
  );
  leaf.absorbing = undefined;
  leaf.changes = leaf.changes.filter(({ position }) => beforeBound(position, low));
  failAll(lost, damage, world.table);
  return { kind: 'send on', way: 'right', node: retired, changes: others };
}
