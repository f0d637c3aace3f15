// What the comparison asks of a provider's own SDK, used as its users use it: one entity a record. One file a provider implements it.
// Nothing here is tuned against the SDK: its retries, connections and timeouts stay at their defaults.
import type { SampleRecord } from '../data/records.ts';
import type { Provider } from '../dimensions.ts';
import type { Usage } from '../usage.ts';

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
  /** Removes a dataset with all its records; no error where there is none. Not counted. Rejects with the SDK's own error, or the signal's reason. */
  remove(dataset: string, signal: AbortSignal): Promise<void>;
  /** Running totals since the baseline was made. */
  usage(): Usage;
  close(): Promise<void>;
}

/** Every verb but `scan` is one request; each rejects with the SDK's own error. */
export interface BaselineTable {
  /** Creates the record; rejects if it exists. */
  insert(record: SampleRecord): Promise<void>;
  /** Replaces the whole record without reading it first. */
  replace(record: SampleRecord): Promise<void>;
  /** Whether the record was there; its fields were received and decoded. */
  get(key: string): Promise<boolean>;
  /** Writes at most `putManyMax` records of one lane and of distinct keys, present or not. */
  putMany(records: readonly SampleRecord[]): Promise<void>;
  /** How many of at most `getManyMax` distinct keys were there. */
  getMany(keys: readonly string[]): Promise<number>;
  /** Reads every record by the SDK's query or list, in as many requests as it takes; gives their number. */
  scan(): Promise<number>;
}
