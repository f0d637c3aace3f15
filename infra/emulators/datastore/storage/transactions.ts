// Optimistic transactions: one commits only if its reads have not changed. Nobody waits for a lock.
import { randomBytes } from 'node:crypto';
import { keyName, type KeyRef } from '../entities/keys.ts';
import { OPEN_TRANSACTIONS_MAX, TRANSACTION_IDLE_MS_MAX, TRANSACTION_MS_MAX } from '../wire/limits.ts';
import type { ReadOptions, TransactionOptions } from '../wire/protocol.ts';
import { invalid, status, StatusError, unsupported } from '../wire/status.ts';
import type { Storage } from './storage.ts';

export interface Transaction {
  readonly id: Buffer;
  /** Reads see the database as of this version. */
  readonly snapshot: number;
  readKey(key: KeyRef): void;
  /** Throws ABORTED if something that was read has changed. */
  check(): void;
}

export interface Transactions {
  begin(options: TransactionOptions | null): Transaction;
  /** Throws INVALID_ARGUMENT if it is unknown, has ended or has expired. */
  find(id: Buffer): Transaction;
  /** Ends a transaction. An unknown id is INVALID_ARGUMENT; one that has ended is accepted. */
  rollback(id: Buffer): void;
  end(transaction: Transaction): void;
  clear(): void;
}

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

/** Bytes of an id that name this server, so that another server's ids are unknown here. */
const SERVER_BYTES = 8;
const GONE = 'the referenced transaction has expired or is no longer valid';

export function createTransactions(storage: Storage, nowMs: () => number): Transactions {
  const server = randomBytes(SERVER_BYTES);
  const open = new Map<string, Open>();
  let issued = 0n;

  const close = (transaction: Open): void => {
    if (open.delete(nameOf(transaction.id))) transaction.close();
  };

  const closeExpired = (): void => {
    const now = nowMs();
    for (const transaction of open.values()) if (isExpired(transaction, now)) close(transaction);
  };

  const wasIssued = (id: Buffer): boolean =>
    id.length === SERVER_BYTES + 8 &&
    id.subarray(0, SERVER_BYTES).equals(server) &&
    id.readBigUInt64BE(SERVER_BYTES) <= issued;

  const nextId = (): Buffer => {
    issued += 1n;
    const id = Buffer.alloc(SERVER_BYTES + 8);
    server.copy(id);
    id.writeBigUInt64BE(issued, SERVER_BYTES);
    return id;
  };

  return {
    begin(options) {
      closeExpired();
      if (open.size >= OPEN_TRANSACTIONS_MAX)
        throw new StatusError(
          status.RESOURCE_EXHAUSTED,
          `${open.size} transactions are open: commit them or roll them back`,
        );
      if (options?.mode === 'readOnly') throw unsupported('transaction_options.read_only');
      const snapshot = storage.openSnapshot();
      const now = nowMs();
      const transaction: Open = {
        id: nextId(),
        snapshot: snapshot.version,
        ...createReads(storage, snapshot.version),
        startedMs: now,
        usedMs: now,
        close: () => snapshot.close(),
      };
      open.set(nameOf(transaction.id), transaction);
      return transaction;
    },
    find(id) {
      const transaction = open.get(nameOf(id));
      const now = nowMs();
      if (transaction !== undefined && isExpired(transaction, now)) close(transaction);
      else if (transaction !== undefined) {
        transaction.usedMs = now;
        return transaction;
      }
      throw invalid('transaction', wasIssued(id) ? GONE : 'is not an id that this server issued');
    },
    rollback(id) {
      if (id.length === 0) throw invalid('transaction', 'must be set');
      if (!wasIssued(id)) throw invalid('transaction', 'is not an id that this server issued');
      const transaction = open.get(nameOf(id));
      if (transaction !== undefined) close(transaction);
    },
    end(transaction) {
      close(transaction as Open);
    },
    clear() {
      for (const transaction of open.values()) close(transaction);
    },
  };
}

/** The state of the database that a request reads. */
export interface ReadAs {
  readonly transaction: Transaction | undefined;
  /** The version to read as of; undefined: the present. */
  readonly version: number | undefined;
  /** Id of the transaction that the request began, for the response. */
  readonly began: Buffer | undefined;
}

const NOW: ReadAs = { transaction: undefined, version: undefined, began: undefined };

export function readAs(options: ReadOptions | null, transactions: Transactions): ReadAs {
  const type = options?.consistencyType;
  if (type === undefined) return NOW;
  if (type === 'transaction' || type === 'newTransaction') {
    const began = type === 'newTransaction';
    const transaction = began ? transactions.begin(options!.newTransaction) : transactions.find(options!.transaction);
    return { transaction, version: transaction.snapshot, began: began ? transaction.id : undefined };
  }
  if (type === 'readTime') throw unsupported('read_options.read_time');
  if (options!.readConsistency !== STRONG && options!.readConsistency !== EVENTUAL)
    throw invalid('read_options.read_consistency', 'must be STRONG or EVENTUAL');
  return NOW;
}

const STRONG = 1;
const EVENTUAL = 2;

function isExpired({ startedMs, usedMs }: Open, nowMs: number): boolean {
  return nowMs - startedMs > TRANSACTION_MS_MAX || nowMs - usedMs > TRANSACTION_IDLE_MS_MAX;
}

function createReads(storage: Storage, snapshot: number): Pick<Transaction, 'readKey' | 'check'> {
  const keys = new Map<string, KeyRef>();
  return {
    readKey(key) {
      keys.set(keyName(key), key);
    },
    check() {
      if ([...keys.values()].some((key) => storage.lastChange(key) > snapshot))
        throw new StatusError(
          status.ABORTED,
          'something this transaction has read was changed by another since: begin again',
        );
    },
  };
}

function nameOf(id: Buffer): string {
  return id.toString('latin1');
}
