// What the experiments ask of a provider's own SDK: entities of a key and one text, written and read singly or as the provider takes them
// together. The documents measured just that. What was sent and what is billed is counted.
import type { Provider } from '../../../../shared/lab/kit/dimensions.ts';
import type { BillableOperations } from '../../../../shared/lab/cost/billable.ts';

export interface TextRecord {
  readonly key: string;
  readonly text: string;
}

/** Requests sent, and operations that the provider bills. */
export interface Spent {
  readonly requests: number;
  readonly billable: BillableOperations;
}

export interface PlainSdk {
  readonly provider: Provider;
  /** Most records in one `insertMany`. */
  readonly insertManyMax: number;
  /** Most keys in one `readMany`. */
  readonly readManyMax: number;
  /** Opens a table or kind, creating it where the provider has such a thing; not counted. */
  open(name: string): Promise<PlainTable>;
  /** Running totals of what went through the tables' methods. */
  spent(): Spent;
  close(): Promise<void>;
}

/** Each method rejects with the SDK's own error. */
export interface PlainTable {
  /** Creates the record. 1 request. */
  insert(record: TextRecord): Promise<void>;
  /** Creates records in 1 request: a group transaction on Azure, a commit outside of a transaction on Datastore. */
  insertMany(records: readonly TextRecord[]): Promise<void>;
  /** Creates records in a transaction: 1 request on Azure, where a group is one anyway, 2 on Datastore. */
  insertInTransaction(records: readonly TextRecord[]): Promise<void>;
  /** Length of the text. Rejects if there is none. 1 request. */
  read(key: string): Promise<number>;
  /**
   * How many of the keys there are; they are neighbours in order. 1 request: a lookup of keys on Datastore, a query between the first and
   * the last on Azure, which has no batched get.
   */
  readMany(keys: readonly string[]): Promise<number>;
  /** Removes the table with its entities where that is one request; not counted. */
  drop(): Promise<void>;
}

/** Counters that an implementation keeps. */
export interface MutableSpent {
  requests: number;
  readonly billable: { reads: number; writes: number; deletes: number };
}

export function nothingSpent(): MutableSpent {
  return { requests: 0, billable: { reads: 0, writes: 0, deletes: 0 } };
}

/** A copy of running totals less those of before. */
export function spentSince(now: Spent, before: Spent): Spent {
  return {
    requests: now.requests - before.requests,
    billable: {
      reads: now.billable.reads - before.billable.reads,
      writes: now.billable.writes - before.billable.writes,
      deletes: now.billable.deletes - before.billable.deletes,
    },
  };
}
