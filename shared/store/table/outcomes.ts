// What callers hear of an item: its outcome, made of the engine's verdict.
import type { Verdict } from '../container/change.ts';
import { asStoreError, StoreError } from '../contract/errors.ts';
import type { DeleteOutcome, Entry, PutOutcome, UpdateOutcome } from '../contract/results.ts';
import type { ActionContext } from './actions.ts';
import { decodeEntry } from './encode-value.ts';
import type { Keyed } from './write.ts';
import { versionOf } from './record-version.ts';

/** The outcome of a call's one item. Throws its error. */
export function unlessFailed<O extends { readonly status: string }>([outcome]: readonly O[]) {
  if (outcome !== undefined && 'error' in outcome) throw outcome.error;
  return outcome as Exclude<O, { readonly status: 'failed' }> | undefined;
}

export function putOutcome({ key }: Keyed, verdict: Verdict): PutOutcome {
  if (verdict.kind === 'applied') return { status: 'written', key, version: versionOf(verdict) };
  return { status: 'failed', key, error: verdict.kind === 'failed' ? asStoreError(verdict.error) : noVerdict() };
}

export function deleteOutcome({ key }: Keyed, verdict: Verdict): DeleteOutcome {
  if (verdict.kind === 'applied') return { status: 'deleted', key, version: versionOf(verdict) };
  return verdict.kind === 'unchanged'
    ? { status: 'absent', key }
    : { status: 'failed', key, error: asStoreError(verdict.error) };
}

export function verdictItself(_: unknown, verdict: Verdict): Verdict {
  return verdict;
}

export function updateOutcome<V>(context: ActionContext, key: string, verdict: Verdict): UpdateOutcome<V> {
  if (verdict.kind === 'failed') return { status: 'failed', key, error: updateError(context, key, verdict.error) };
  const { kind, incarnation, record } = verdict;
  if (record !== undefined) {
    const status = kind === 'applied' ? 'written' : 'unchanged';
    return { status, ...decodeEntry<V>(context, key, record, incarnation) };
  }
  return kind === 'applied' ? { status: 'deleted', key, version: versionOf(verdict) } : { status: 'absent', key };
}

function updateError({ table }: ActionContext, key: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError('invalid', 'the function given to update threw: see the cause', { table, key, cause: error });
}

export function withoutStatus<V>({ key, value, version, expiresAtMs, ageMs }: Entry<V>): Entry<V> {
  return ageMs === undefined ? { key, value, version, expiresAtMs } : { key, value, version, expiresAtMs, ageMs };
}

export function noVerdict(): StoreError {
  return new StoreError('unknown', 'the write ended without a verdict');
}
