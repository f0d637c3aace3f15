// Batches as the adapters' callers know them: all succeed, or the first failure is thrown.
import type { StoreError } from '../store/index.ts';

type Outcome = { readonly status: string } | { readonly status: 'failed'; readonly error: StoreError };

/** The outcomes without failures. Throws the first one's error. */
export function succeeded<O extends Outcome>(outcomes: readonly O[]): Exclude<O, { readonly status: 'failed' }>[] {
  for (const outcome of outcomes) if ('error' in outcome) throw outcome.error;
  return outcomes as Exclude<O, { readonly status: 'failed' }>[];
}
