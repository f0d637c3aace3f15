// What one change decides about its record, and what a record costs beside its bytes.
import type { Id64 } from '../format/bytes.ts';
import type { StoredRecord } from '../format/record.ts';
import type { Change, Decision } from './change.ts';

/** What a record costs beside its key and value when it stands alone: its row, its page's envelope. */
export const RECORD_COST_BYTES = 128;

export function recordOf(
  key: Uint8Array,
  version: number,
  { codec, value, expiresAtMs }: Pick<StoredRecord, 'codec' | 'value' | 'expiresAtMs'>,
): StoredRecord {
  return { key, version, codec, value, expiresAtMs };
}

/** A user's function may throw: that is a verdict on its change, not on the group. */
export function decideSafely(change: Change, record: StoredRecord | undefined, incarnation: Id64): Decision {
  try {
    return typeof change.action === 'function' ? change.action(record, incarnation) : change.action;
  } catch (error) {
    return { kind: 'none', error };
  }
}
