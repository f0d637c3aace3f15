// Ends changes and splits that could not be committed, and tells the backoff why.
import { dropEntryRepairs, failAll } from '../container/attempts.ts';
import type { Change } from '../container/change.ts';
import type { StoreError } from '../contract/errors.ts';
import { count } from '../io/counters.ts';
import { note } from './contention.ts';
import type { Leaf, World } from './leaf.ts';

export function failChanges(changes: readonly Change[], error: unknown, { table }: Pick<World, 'table'>): void {
  failAll(changes, error, table);
}

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
