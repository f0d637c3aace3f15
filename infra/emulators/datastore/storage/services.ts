// The state that all calls of one server share.
import type { Storage } from './storage.ts';
import type { Transactions } from './transactions.ts';

export interface Services {
  readonly storage: Storage;
  readonly transactions: Transactions;
}
