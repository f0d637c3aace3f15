// Commits a transaction's mutations all or none, and other mutations one by one until one fails.
// All are checked before one is applied. Ids that it chooses are versions: none comes twice.
import {
  checkedProperties,
  checkEntityBytes,
  encodeEntity,
  type Mask,
  maskOf,
  merged,
  parseEntity,
  type Properties,
  propertiesOf,
  sameProperties,
} from './entities/entities.ts';
import {
  type Database,
  describeKey,
  isIncomplete,
  keyName,
  type KeyRef,
  parseKey,
  withId,
} from './entities/entity-keys.ts';
import type { Services, Transaction } from './storage/open-transactions.ts';
import type { Storage, Stored } from './storage/storage.ts';
import {
  type AllocateIdsRequest,
  type CommitRequest,
  encoder,
  enumValue,
  type Mutation,
  type Operation,
  timestampOf,
} from './wire/protocol.ts';
import { inside, invalid, status, StatusError, unsupported } from './wire/rpc-status.ts';

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

interface CheckedMutation {
  readonly operation: Operation;
  readonly key: KeyRef;
  /** The emulator chose the key's id. */
  readonly isAllocated: boolean;
  readonly database: Database;
  /** None for a delete. */
  readonly properties: Properties;
  readonly mask: Mask | undefined;
  /** The version that must be current; undefined: any. */
  readonly baseVersion: number | undefined;
}

const FAIL = enumValue('Mutation.ConflictResolutionStrategy', 'FAIL');

/** Throws INVALID_ARGUMENT that names the field in the mutation. */
function checkMutation(mutation: Mutation, database: Database, storage: Storage): CheckedMutation {
  const { operation } = mutation;
  if (operation === undefined) throw invalid('operation', 'one of insert, update, upsert and delete must be set');
  if (mutation.propertyTransforms.length > 0) throw unsupported('property_transforms');
  const baseVersion = baseVersionOf(mutation, operation);
  if (operation === 'delete') {
    const key = inside('delete', () => parseKey(mutation.delete, database));
    return { operation, key, isAllocated: false, database, properties: NONE, mask: undefined, baseVersion };
  }
  const entity = inside(operation, () => {
    const { key: given, properties, sizeBytes } = parseEntity(mutation[operation], database);
    const isAllocated = operation !== 'update' && inside('key', () => isIncomplete(given));
    const key = inside('key', () => (isAllocated ? allocate(given, database, storage) : parseKey(given, database)));
    // A patch is checked again when it is applied, because the properties that it keeps count too.
    checkEntityBytes(key, sizeBytes);
    return { key, isAllocated, properties };
  });
  return { operation, ...entity, database, mask: maskOf(mutation.propertyMask), baseVersion };
}

const NONE: Properties = new Map();

/** The version on which a write depends. A conflict must make it fail. */
function baseVersionOf(mutation: Mutation, operation: Operation): number | undefined {
  const { conflictDetectionStrategy: detection, conflictResolutionStrategy: resolution } = mutation;
  if (detection === undefined) {
    if (resolution !== 0) throw invalid('conflict_resolution_strategy', 'needs base_version to be set too');
    return undefined;
  }
  if (detection !== 'baseVersion') throw unsupported('update_time');
  if (resolution !== FAIL) throw unsupported('conflict_resolution_strategy: other than FAIL');
  const baseVersion = Number(mutation.baseVersion);
  if (baseVersion < 0) throw invalid('base_version', 'must not be negative');
  if (operation === 'insert' && baseVersion > 0) throw invalid('base_version', 'must be zero for an insert');
  if (operation === 'update' && baseVersion === 0) throw invalid('base_version', 'must not be zero for an update');
  return baseVersion;
}

/** Throws ALREADY_EXISTS, NOT_FOUND or FAILED_PRECONDITION, and then changes nothing. */
function applyMutation(mutation: CheckedMutation, version: number, storage: Storage): object {
  const { operation, key, isAllocated, baseVersion } = mutation;
  const current = storage.get(key);
  if (baseVersion !== undefined && (current?.version ?? 0) !== baseVersion)
    throw new StatusError(
      status.FAILED_PRECONDITION,
      `the version of ${describeKey(key)} is ${current?.version ?? 0}, not the base version ${baseVersion}`,
    );
  if (operation === 'delete') {
    if (current !== undefined) storage.put(key, undefined, version);
    return { version };
  }
  if (operation === 'insert' && current !== undefined)
    throw new StatusError(status.ALREADY_EXISTS, `the entity ${describeKey(key)} exists already`);
  if (operation === 'update' && current === undefined)
    throw new StatusError(status.NOT_FOUND, `there is no entity ${describeKey(key)} to update`);
  const properties = nextProperties(mutation, current);
  const changed = current === undefined || !sameProperties(propertiesOf(current.entity!), properties);
  const stored = changed ? storage.put(key, encodeEntity(key.encoded, properties), version) : current;
  return {
    ...(isAllocated && { key: key.encoded }),
    version: stored.version,
    createTime: timestampOf(stored.created),
    updateTime: timestampOf(stored.version),
  };
}

/** The properties after the mutation. Throws INVALID_ARGUMENT if a patch makes them too large. */
function nextProperties({ mask, key, database, properties }: CheckedMutation, current: Stored | undefined): Properties {
  if (mask === undefined) return properties;
  const patched = merged(current === undefined ? NONE : propertiesOf(current.entity!), properties, mask);
  checkEntityBytes(key, checkedProperties(patched, database).sizeBytes);
  return patched;
}

const encodeAllocated = encoder('AllocateIdsResponse');

export function allocateIds({ keys }: AllocateIdsRequest, database: Database, { storage }: Services): Buffer {
  const complete = keys.map((key, place) =>
    inside(`keys[${place}]`, () => {
      if (!isIncomplete(key)) throw invalid('path', 'must end in a kind without an identifier');
      return allocate(key, database, storage).encoded;
    }),
  );
  return encodeAllocated({ keys: complete });
}

/** An incomplete key with an id that no entity has. */
function allocate(incomplete: Buffer, database: Database, storage: Storage): KeyRef {
  let key: KeyRef;
  do key = parseKey(withId(incomplete, storage.nextVersion()), database);
  while (storage.get(key) !== undefined);
  return key;
}
