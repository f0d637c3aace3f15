// Commits a transaction's mutations all or none, and other mutations one by one until one fails.
import { type Database, describeKey, keyName } from '../entities/entity-keys.ts';
import type { Storage } from '../storage/storage.ts';
import type { Services, Transaction } from '../storage/open-transactions.ts';
import { type CommitRequest, encoder, enumValue, type Operation, timestampOf } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/rpc-status.ts';
import { applyMutation, type CheckedMutation, checkMutation } from './mutations.ts';

const encodeResponse = encoder('CommitResponse');
const TRANSACTIONAL = enumValue('CommitRequest.Mode', 'TRANSACTIONAL');
const NON_TRANSACTIONAL = enumValue('CommitRequest.Mode', 'NON_TRANSACTIONAL');

export function commit(request: CommitRequest, database: Database, services: Services): Buffer {
  const { storage, transactions } = services;
  const mutations = checkCommit(request, database, storage);
  if (request.transactionSelector === 'transaction')
    return commitTransaction(transactions.find(request.transaction), mutations, services);
  if (request.transactionSelector === 'singleUseTransaction')
    return commitTransaction(transactions.begin(request.singleUseTransaction), mutations, services);
  const version = storage.nextVersion();
  const mutationResults = mutations.map((mutation) => applyMutation(mutation, version, storage));
  return encodeResponse({ mutationResults });
}

/** Throws INVALID_ARGUMENT before anything is applied. */
function checkCommit(request: CommitRequest, database: Database, storage: Storage): CheckedMutation[] {
  const isTransactional = checkMode(request);
  const mutations = request.mutations.map((mutation, place) =>
    inside(`mutations[${place}]`, () => checkMutation(mutation, database, storage)),
  );
  checkSequences(mutations, isTransactional);
  return mutations;
}

function commitTransaction(
  transaction: Transaction,
  mutations: readonly CheckedMutation[],
  { storage, transactions }: Services,
): Buffer {
  transactions.end(transaction);
  const version = storage.nextVersion();
  const mutationResults = storage.atomically(() => mutations.map((one) => applyMutation(one, version, storage)));
  return encodeResponse({ mutationResults, commitTime: timestampOf(version) });
}

/** Whether the commit is all or nothing. */
function checkMode({ mode, transactionSelector }: CommitRequest): boolean {
  if (mode === NON_TRANSACTIONAL) {
    if (transactionSelector !== undefined)
      throw invalid('transaction_selector', 'must not be set in the mode NON_TRANSACTIONAL');
    return false;
  }
  if (mode !== TRANSACTIONAL && mode !== 0) throw invalid('mode', `${mode} is not one of its values`);
  if (transactionSelector === undefined)
    throw invalid('transaction_selector', 'must be set in the mode TRANSACTIONAL, which is the default');
  return true;
}

/** What a transaction must not do to one entity in this order (datastore.proto). */
const FORBIDDEN: ReadonlySet<string> = new Set(['insert insert', 'update insert', 'upsert insert', 'delete update']);

function checkSequences(mutations: readonly CheckedMutation[], isTransactional: boolean): void {
  if (mutations.length < 2) return;
  const before = new Map<string, Operation>();
  for (const [place, { key, operation }] of mutations.entries()) {
    const name = keyName(key);
    const earlier = before.get(name);
    if (earlier !== undefined && !isTransactional)
      throw invalid(`mutations[${place}]`, `a second mutation of ${describeKey(key)} in a non-transactional commit`);
    if (FORBIDDEN.has(`${earlier} ${operation}`))
      throw invalid(
        `mutations[${place}]`,
        `must not ${operation} ${describeKey(key)} after an earlier ${earlier} of it`,
      );
    before.set(name, operation);
  }
}
