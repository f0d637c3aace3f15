// A provider's own SDK, used as its users use it: one entity a record. Retries, connections and
// timeouts stay at the SDK's defaults.
import type { SampleRecord } from './records.ts';
import type { Provider } from '../kit/dimensions.ts';
import type { Usage } from '../kit/usage.ts';

/**
 * The comparison's store lies here, and the kinds or tables of its datasets begin with it. No
 * dataset's name can reach a user's table.
 */
export const COMPARISON = 'stowagecomparison';

/** The kind or physical table of a dataset. */
export function placeOf(dataset: string): string {
  return COMPARISON + dataset;
}

/** A provider's SDK on one account or project, and what was spent through it. */
export interface Baseline {
  readonly provider: Provider;
  /** Most records in one `putMany`. */
  readonly putManyMax: number;
  /** Most keys in one `getMany`; 1 where the provider has no batched get. */
  readonly getManyMax: number;
  /** Records of one lane may share a `putMany`, others not. */
  lane(key: string): string;
  /** Opens the dataset's kind or table, and creates it where it is missing. */
  open(dataset: string): Promise<BaselineTable>;
  /**
   * Removes a dataset with all its records; no error where there is none. Not counted. Rejects with
   * the SDK's own error, or the signal's reason.
   */
  remove(dataset: string, signal: AbortSignal): Promise<void>;
  /** Running totals since the baseline was made. */
  usage(): Usage;
  close(): Promise<void>;
}

/**
 * Every verb but `modify`, `scan` and, on Datastore, `putInTransaction` is one request; each
 * rejects with the SDK's own error.
 */
export interface BaselineTable {
  /** Creates the record; rejects if it exists. */
  insert(record: SampleRecord): Promise<void>;
  /** Replaces the whole record without reading it first. */
  replace(record: SampleRecord): Promise<void>;
  /**
   * Reads the record and writes it anew, unless another changed it in between; then again,
   * MODIFY_TRIES times in all, until that is a `ConflictError`. False if it was not there.
   */
  modify(record: SampleRecord): Promise<boolean>;
  /** Whether the record was there; its fields were received and decoded. */
  get(key: string): Promise<boolean>;
  /** Writes at most `putManyMax` records of one lane and of distinct keys, present or not. */
  putMany(records: readonly SampleRecord[]): Promise<void>;
  /**
   * As `putMany`, all or none of them: a group transaction is that anyway; on Datastore a
   * transaction is begun and committed.
   */
  putInTransaction(records: readonly SampleRecord[]): Promise<void>;
  /** How many of at most `getManyMax` distinct keys were there. */
  getMany(keys: readonly string[]): Promise<number>;
  /**
   * Reads at most `count` (no more than 1,000) records in key order from `from` on, up to `to`, not
   * included, both of one lane; gives their number.
   */
  range(from: string, to: string, count: number): Promise<number>;
  /**
   * Reads every record by the SDK's query or list, in as many requests as it takes; gives their
   * number.
   */
  scan(): Promise<number>;
}

/** Tries of a modification before its caller sees a conflict, as SDKs repeat a transaction. */
const MODIFY_TRIES = 10;

/** Others changed the record each time. */
class ConflictError extends Error {
  readonly code = 'conflict';
}

/**
 * Tries until `attempt` gives something else than `conflict`; rejects with a ConflictError after
 * ten. `onConflict` hears of each.
 */
export async function withTries(
  attempt: () => Promise<boolean | 'conflict'>,
  onConflict: () => void,
): Promise<boolean> {
  for (let tried = 0; tried < MODIFY_TRIES; tried += 1) {
    const outcome = await attempt();
    if (outcome !== 'conflict') return outcome;
    onConflict();
  }
  throw new ConflictError(`met another's change ${MODIFY_TRIES} times`);
}
