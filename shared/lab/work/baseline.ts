// A provider's SDK as its users use it: one entity per record, and the SDK's defaults.
import type { Provider } from '../kit/dimensions.ts';
import { type SampleRecord, tenantOf } from './sample-records.ts';
import type { MutableUsage, Usage } from '../kit/provider-usage.ts';

/** All names of the comparison at a provider begin with it: none can reach a user's table. */
export const COMPARISON = 'stowagecomparison';

/** The kind or physical table of a dataset. */
export function placeOf(dataset: string): string {
  return COMPARISON + dataset;
}

interface Batching {
  /** Most records in one `putMany`. */
  readonly putManyMax: number;
  /** Most keys in one `getMany`; 1 where the provider has no batched get. */
  readonly getManyMax: number;
  /** Only records of the same lane may share a `putMany`. */
  lane(key: string): string;
}

export const BATCHING: Readonly<Record<Provider, Batching>> = {
  // Commits once took at most 500 mutations, and older emulators still do; a lookup takes 1,000.
  datastore: { putManyMax: 500, getManyMax: 500, lane: () => '' },
  // The service's limit of a group transaction.
  'azure-tables': { putManyMax: 100, getManyMax: 1, lane: tenantOf },
};

/** A provider's SDK on one account or project, and its usage so far. */
export interface Baseline extends Batching {
  open(dataset: string): Promise<BaselineTable>;
  /** No error if absent. Not counted. Rejects with the SDK's error or the signal's reason. */
  remove(dataset: string, signal: AbortSignal): Promise<void>;
  usage(): Usage;
}

/** A table as layouts use it: each method but `modify` is one request. SDK errors pass through. */
export interface BaselineTable {
  /** Creates the record; rejects if it exists. */
  insert(record: SampleRecord): Promise<void>;
  /** Replaces the whole record without reading it first. */
  replace(record: SampleRecord): Promise<void>;
  /** False if absent. A ConflictError if others changed it MODIFY_TRIES times in between. */
  modify(record: SampleRecord): Promise<boolean>;
  /** Whether the record was there; its fields were received and decoded. */
  get(key: string): Promise<boolean>;
  /** Writes at most `putManyMax` records of one lane and of distinct keys, present or not. */
  putMany(records: readonly SampleRecord[]): Promise<void>;
  /** How many of at most `getManyMax` distinct keys were there. */
  getMany(keys: readonly string[]): Promise<number>;
  /** Counts records in [from, to) of one lane, read in key order; `count` is at most 1,000. */
  range(from: string, to: string, count: number): Promise<number>;
}

/** An SDK on a real service or an emulator. */
export interface SdkBaseline extends Baseline {
  close(): Promise<void>;
}

/** Tries of a modification before its caller sees a conflict, as SDKs repeat a transaction. */
const MODIFY_TRIES = 10;

class ConflictError extends Error {
  readonly code = 'conflict';
}

/** Counts each conflict in `usage`. Rejects with a ConflictError after ten of them. */
export async function withTries(usage: MutableUsage, attempt: () => Promise<boolean | 'conflict'>): Promise<boolean> {
  for (let tried = 0; tried < MODIFY_TRIES; tried += 1) {
    const outcome = await attempt();
    if (outcome !== 'conflict') return outcome;
    usage.conflicts += 1;
  }
  throw new ConflictError(`met another's change ${MODIFY_TRIES} times`);
}
