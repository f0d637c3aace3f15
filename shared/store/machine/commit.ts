// One attempt at a commit: evaluates the changes, lays them into pages, and plans a write or a
// split.
import { type Attempt, failAll, settleAll } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { slotsToCommit } from '../container/compaction.ts';
import { evaluate, type Evaluation, sealPages, type UnsealedEvaluation } from '../container/evaluate.ts';
import { planCommit } from '../container/plan-commit.ts';
import { isWhole, type Snapshot } from '../container/snapshot.ts';
import { isDivisible } from '../container/split.ts';
import { failsTooOften } from '../container/container-size.ts';
import type { EntityId, Write } from '../contract/driver.ts';
import { StoreError } from '../contract/errors.ts';
import { decodeKey } from '../format/position.ts';
import { note } from './contention.ts';
import { drawAttempt, drawId } from '../io/clock.ts';
import { count } from '../system/tracing.ts';
import {
  type Draft,
  type Frozen,
  type Group,
  GROUP_COUNT_MAX,
  type Leaf,
  type Present,
  readOf,
  type SplitPlan,
  type Stage,
  type Step,
  type World,
} from './leaf.ts';

const TURN: Step = { kind: 'turn' };

/** The first step of an attempt. Undefined if nothing has to be sent. */
export function commit(leaf: Leaf, group: Group, world: World): Step | undefined {
  const { throttledSplit: split } = leaf;
  leaf.throttledSplit = undefined;
  const isStill = split?.draft.base.version === group.snapshot.version && group.maintenance === undefined;
  // A caller that has left meanwhile was told that nothing was written.
  if (isStill && split.draft.changes.every(({ isSettled }) => !isSettled))
    return checkBeforeSplit(leaf, split.draft, split.plan, true);
  return lay(leaf, group, world);
}

/** The next step of an attempt at this stage. Undefined if the attempt is over. */
export function goOn(leaf: Leaf, stage: Stage, present: Present): Step | undefined {
  const { world } = present;
  leaf.stage = undefined;
  switch (stage.kind) {
    case 'laid':
      return plan(leaf, stage.group, stage.unsealed, world);
    case 'negatives':
      // The check showed another version, so the verdicts do not hold.
      return readOf(leaf, []);
    case 'split':
      leaf.stage = stage;
      if (stage.isChecked)
        return { kind: 'insert', headers: stage.plan.inserts, attempt: stage.draft.id, withinMs: stage.withinMs };
      leaf.stage = undefined;
      return readOf(leaf, slotsToCommit(stage.draft.base, stage.draft.changes), stage.draft.base);
    case 'frozen':
      return splitFrozen(leaf, stage, present);
    case 'fate': {
      leaf.stage = stage;
      const { base, changes } = stage.attempt;
      return stage.clears ? readOf(leaf, []) : readOf(leaf, slotsToCommit(base, changes), base);
    }
    default:
      stage satisfies never;
      return undefined;
  }
}

/** Evaluates the group, and lets the event loop run before the rest if that may have taken long. */
function lay(leaf: Leaf, group: Group, world: World): Step | undefined {
  const { base, changes, now, target, maintenance, mergesAll = false } = group;
  const asked = { nowMs: now.wallMs, target, mergesAll, purges: maintenance === 'purge' };
  const unsealed = evaluate(base, changes, { ...world.rules, ...asked });
  // After a caller's deadline undid an attempt, the next one runs at once, or one would undo it
  // too.
  if (changes.length <= 1 || leaf.wasTakenBack) return plan(leaf, group, unsealed, world);
  leaf.stage = { kind: 'laid', group, unsealed };
  return TURN;
}

function plan(leaf: Leaf, group: Group, unsealed: UnsealedEvaluation, world: World): Step | undefined {
  const evaluation = sealPages(unsealed, group.base.header, world.rules);
  const { changes, maintenance, frozen } = group;
  const mustWrite =
    maintenance !== undefined || frozen !== undefined || changes.some((change) => change.openAttempts > 0);
  if (evaluation.appliedCount > 0 || mustWrite) return write(leaf, group, evaluation, world);
  // Rule 6: a negative verdict needs a read, begun after the call, that shows this version.
  if (changes.every((change) => group.snapshot.seen.tick > change.begunTick)) {
    settleAll(changes, evaluation.verdicts);
    return undefined;
  }
  leaf.stage = { kind: 'negatives', group, evaluation };
  return { kind: 'check', snapshot: group.snapshot };
}

function write(leaf: Leaf, group: Group, evaluation: Evaluation, world: World): Step | undefined {
  const { snapshot, base, changes, maintenance, frozen } = group;
  leaf.groupCountMax = GROUP_COUNT_MAX;
  const draft = draftOf(group, evaluation, world);
  const mustSplit = frozen === undefined && (leaf.mustSplit || failsTooOften(leaf.backoff.failuresInARow));
  const next =
    mustSplit || frozen !== undefined || maintenance !== undefined ? undefined : toFreeze(leaf, snapshot, world);
  const planned = planCommit(
    {
      snapshot: base,
      evaluation,
      attempt: draft.id,
      mustSplit,
      mustReplace: typeof maintenance === 'object' && maintenance.mustReplace,
      splitInto: frozen?.splitInto ?? 0,
      freezeMs: next?.freezeMs ?? 0,
      nowMs: group.now.wallMs,
      drawId: () => drawId(world.runtime),
    },
    world.rules,
  );
  if (frozen !== undefined) {
    if (planned.kind === 'split') return splitInTime(leaf, draft, planned, frozen.freezeMs);
    loseFrozenSplit(leaf, world, group.now.monotonicMs);
    return undefined;
  }
  switch (planned.kind) {
    case 'needs_whole':
      return readOf(leaf, 'intact');
    case 'needs_merge':
      return lay(leaf, { ...group, mergesAll: true }, world);
    case 'too_large':
      if (changes.length > 1) leaf.groupCountMax = Math.ceil(changes.length / 2);
      else failAll(changes, tooLarge(leaf.id, base.header.groupBy, changes[0], world.table), world.table);
      return undefined;
    case 'split':
      // A throttled split is kept for another try, but not with a neighbour that may have changed.
      return checkBeforeSplit(leaf, draft, planned, maintenance === undefined);
    case 'update':
      leaf.frozen = next;
      return send(leaf, planned.write, { ...draft, header: planned.header });
    default:
      return planned satisfies never;
  }
}

function draftOf({ snapshot, base, changes, frozen }: Group, { verdicts }: Evaluation, world: World): Draft {
  const landed = (): void => {
    if (base !== snapshot) count(world, 'merges');
    if (frozen !== undefined) count(world, 'contentionSplits');
  };
  return { id: drawAttempt(world), base: snapshot, changes, verdicts, answer: 'none', landed };
}

/** The split to announce. Undefined if the container cannot be divided (rule 34). */
function toFreeze({ advice }: Leaf, snapshot: Snapshot, { table }: World): Frozen | undefined {
  return advice !== undefined && advice.splitInto > 0 && isDivisible(snapshot, table) ? advice : undefined;
}

/** Rule 10: the version is checked before anything is inserted. */
function checkBeforeSplit(leaf: Leaf, draft: Draft, split: SplitPlan, isKept: boolean): Step {
  leaf.stage = { kind: 'split', draft, plan: split, isChecked: false, withinMs: undefined, isKept };
  return { kind: 'check', snapshot: draft.base };
}

/** Splits the container after the commit was acknowledged. A failure is counted, not reported. */
function splitFrozen(leaf: Leaf, stage: Extract<Stage, { kind: 'frozen' }>, { world, now }: Present): Step | undefined {
  const { known } = leaf;
  // Another process has committed since.
  if (known?.lastCommit !== stage.by) {
    loseFrozenSplit(leaf, world, now.monotonicMs);
    return undefined;
  }
  if (!isWhole(known.header)) {
    leaf.stage = stage;
    return readOf(leaf, 'intact');
  }
  const mergesAll = known.header.layers.length > 0;
  return lay(leaf, { snapshot: known, base: known, changes: [], now, mergesAll, frozen: stage.frozen }, world);
}

/** Inserts at once, and gives up when the processes that were asked to wait do so no longer. */
function splitInTime(leaf: Leaf, draft: Draft, plan: SplitPlan, withinMs: number): Step {
  leaf.stage = { kind: 'split', draft, plan, isChecked: true, withinMs, isKept: false };
  return { kind: 'insert', headers: plan.inserts, attempt: draft.id, withinMs };
}

/**
 * Rule 3: the attempt begins when its request departs, provided that all its callers still wait.
 */
export function send(leaf: Leaf, request: Write, attempt: Attempt): Step | undefined {
  leaf.hasDeparted = false;
  leaf.isLate = false;
  // The second time it counts as sent at once, or callers leaving one by one would undo every
  // attempt.
  if (leaf.wasTakenBack && !begin(leaf, attempt)) return undefined;
  leaf.underWay = attempt;
  return { kind: 'write', write: request, attempt, isAlone: leaf.advice?.isAlone === true };
}

/** Called when the request is about to leave; false takes it back. */
export function departs(leaf: Leaf, attempt: Attempt): boolean {
  leaf.hasDeparted = leaf.open.has(attempt) || begin(leaf, attempt);
  return leaf.hasDeparted;
}

/** False if a caller has left, who is told that nothing was written. */
function begin(leaf: Leaf, attempt: Attempt): boolean {
  leaf.wasTakenBack = attempt.changes.some(({ isSettled }) => isSettled);
  if (leaf.wasTakenBack) return false;
  leaf.open.begin(attempt);
  return true;
}

function tooLarge(
  container: EntityId,
  groupBy: string | undefined,
  change: Change | undefined,
  table: string,
): StoreError {
  const group = `the group (keys alike up to "${groupBy}") does not fit into a container: make groups smaller`;
  const message = groupBy === undefined ? 'the record does not fit into a container' : group;
  return new StoreError('too_large', message, { table, key: change && decodeKey(change.key), container });
}

/** Gives up a split for contention. Its nodes are left to vacuum. */
export function loseFrozenSplit(leaf: Leaf, world: World, nowMs: number): void {
  leaf.frozenLink = undefined;
  count(world, 'lostSplits');
  note(world.contention, leaf.id, { kind: 'lost split' }, nowMs);
}
