// Transactions are optimistic, without locks: one commits only if nothing that it read has changed.
import { randomBytes } from 'node:crypto';
import type { KeyRef } from '../entities/entity-keys.ts';
import { OPEN_TRANSACTIONS_MAX, TRANSACTION_IDLE_MS_MAX, TRANSACTION_MS_MAX } from '../wire/service-limits.ts';
import type { ReadOptions, TransactionOptions } from '../wire/protocol.ts';
import { invalid, status, StatusError, unsupported } from '../wire/rpc-status.ts';
import type { Storage } from './storage.ts';

export interface Transaction {
  readonly id: Buffer;
  /** Reads see the database as of this version. */
  readonly snapshot: number;
  /** The keys that it has read, by name. */
  readonly reads: Map<string, KeyRef>;
}

export type Transactions = ReturnType<typeof createTransactions>;

/** The state that all calls of one server share. */
export interface Services {
  readonly storage: Storage;
  readonly transactions: Transactions;
}

interface Open extends Transaction {
  readonly startedMs: number;
  usedMs: number;
  readonly close: () => void;
}

const GONE = 'the referenced transaction has expired or is no longer valid';
const END_THEM = 'commit them or roll them back';
const STALE = 'something this transaction has read was changed by another since: begin again';

export function createTransactions(storage: Storage, nowMs: () => number) {
  // Stands in all ids, so that another server's ids are unknown here.
  const server = randomBytes(8).toString('hex');
  const open = new Map<string, Open>();
  let issued = 0;

  const close = (transaction: Open): void => {
    if (open.delete(String(transaction.id))) transaction.close();
  };

  const closeExpired = (): void => {
    const now = nowMs();
    for (const transaction of open.values()) if (isExpired(transaction, now)) close(transaction);
  };

  const wasIssued = (id: Buffer): boolean => {
    const [by, number] = id.toString('latin1').split(' ');
    return by === server && Number(number) <= issued;
  };

  return {
    begin(options: TransactionOptions | null): Transaction {
      closeExpired();
      if (open.size >= OPEN_TRANSACTIONS_MAX)
        throw new StatusError(status.RESOURCE_EXHAUSTED, `${open.size} transactions are open: ${END_THEM}`);
      if (options?.mode === 'readOnly') throw unsupported('transaction_options.read_only');
      const snapshot = storage.openSnapshot();
      const now = nowMs();
      const transaction: Open = {
        id: Buffer.from(`${server} ${(issued += 1)}`),
        snapshot: snapshot.version,
        reads: new Map(),
        startedMs: now,
        usedMs: now,
        close: () => snapshot.close(),
      };
      open.set(String(transaction.id), transaction);
      return transaction;
    },
    /** Throws INVALID_ARGUMENT if it is unknown, has ended or has expired. */
    find(id: Buffer): Transaction {
      closeExpired();
      const transaction = open.get(String(id));
      if (transaction === undefined)
        throw invalid('transaction', wasIssued(id) ? GONE : 'is not an id that this server issued');
      transaction.usedMs = nowMs();
      return transaction;
    },
    /** Ends a transaction unless it has ended. Throws INVALID_ARGUMENT for an unknown id. */
    rollback(id: Buffer): void {
      if (id.length === 0) throw invalid('transaction', 'must be set');
      if (!wasIssued(id)) throw invalid('transaction', 'is not an id that this server issued');
      const transaction = open.get(String(id));
      if (transaction !== undefined) close(transaction);
    },
    /** Ends a transaction. Throws ABORTED if an entity that it read has changed. */
    end(transaction: Transaction): void {
      const { reads, snapshot } = transaction;
      const isStale = [...reads.values()].some((key) => storage.lastChange(key) > snapshot);
      // Closed only now, because the check needs states that are kept for open transactions.
      close(transaction as Open);
      if (isStale) throw new StatusError(status.ABORTED, STALE);
    },
    clear(): void {
      for (const transaction of open.values()) close(transaction);
    },
  };
}

/** The transaction that a request reads in, if any, and whether the request began it. */
export function readAs(
  options: ReadOptions | null,
  transactions: Transactions,
): { readonly transaction?: Transaction; readonly isNew?: boolean } {
  const type = options?.consistencyType;
  if (type === undefined) return {};
  if (type === 'transaction') return { transaction: transactions.find(options!.transaction) };
  if (type === 'newTransaction') return { transaction: transactions.begin(options!.newTransaction), isNew: true };
  if (type === 'readTime') throw unsupported('read_options.read_time');
  if (options!.readConsistency !== STRONG && options!.readConsistency !== EVENTUAL)
    throw invalid('read_options.read_consistency', 'must be STRONG or EVENTUAL');
  return {};
}

const STRONG = 1;
const EVENTUAL = 2;

function isExpired({ startedMs, usedMs }: Open, nowMs: number): boolean {
  return nowMs - startedMs > TRANSACTION_MS_MAX || nowMs - usedMs > TRANSACTION_IDLE_MS_MAX;
}
