// Ends changes and splits that could not be committed, and tells the backoff why.
import { dropEntryRepairs, failAll } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import { planCompaction } from '../container/compaction.ts';
import type { Snapshot } from '../container/snapshot.ts';
import type { StoreError } from '../contract/errors.ts';
import { compareBytes } from '../format/bytes.ts';
import { beforeBound } from '../format/position.ts';
import { count } from '../io/counters.ts';
import { note } from './contention.ts';
import type { Leaf, Step, World } from './leaf.ts';

/** Gives up a split for contention. Its nodes are left to vacuum. */
export function loseFrozenSplit(leaf: Leaf, world: World, nowMs: number): void {
  leaf.frozenLink = undefined;
  count(world, 'lostSplits');
  note(world.contention, leaf.id, { kind: 'lost split' }, nowMs);
}

/**
 * Notes that changes, or nodes that they need, were throttled or could not be sent: for the pause,
 * and for the callers' errors. Changes that were never sent fail once that has lasted too long
 * (rule 7).
 */
export function noteTurnedAway(
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
export function needingDamaged({ tried }: Leaf): Change[] {
  if (tried === undefined) return [];
  return tried.group.filter((change) =>
    planCompaction(tried.snapshot, [change]).unread.some(({ content }) => content.damage !== undefined),
  );
}

/** Leaves a damaged neighbour: its keys fail, and changes beyond it follow its link, once. */
export function giveUpAbsorbing(leaf: Leaf, retired: Snapshot, damage: StoreError, world: World): Step {
  const { low, high } = retired.header;
  const others = leaf.changes.filter(({ position }) => !beforeBound(position, low));
  const lost = others.filter(
    ({ position, passed: met }) => beforeBound(position, high) || (met !== undefined && compareBytes(met, low) >= 0),
  );
  leaf.absorbing = undefined;
  leaf.changes = leaf.changes.filter(({ position }) => beforeBound(position, low));
  failAll(lost, damage, world.table);
  return { kind: 'send on', way: 'right', node: retired, changes: others };
}
