// What reads of a table share: the records that are wanted, how old they may be, and how those that were not reached end.
import type { GetOutcome } from '../contract/api.ts';
import { asStoreError, StoreError } from '../contract/errors.ts';
import type { LeafRequest } from '../engine/lookup.ts';
import type { Position } from '../format/position.ts';

export interface Wanted {
  readonly index: number;
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly position: Position;
  readonly level: number;
}

export type Since = Pick<LeafRequest, 'begunTick' | 'maxAgeMs'>;

/** Those that have no outcome yet failed. */
export function failRest<V>(wanted: readonly Wanted[], outcomes: GetOutcome<V>[], error: unknown): void {
  for (const { index, key } of wanted) outcomes[index] ??= { status: 'failed', key, error: asStoreError(error) };
}

export function checkMaxAge(maxAgeMs: number | undefined, table: string): number {
  if (maxAgeMs === undefined) return 0;
  if (maxAgeMs >= 0) return maxAgeMs;
  throw new StoreError('invalid', 'maxAgeMs must not be negative', { table });
}
