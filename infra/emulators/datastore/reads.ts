// Lookup finds entities by key; RunQuery gives one batch of a query's results, with a cursor after
// each. A cursor holds a key, so that concurrent writes do not move it. Answers that are too large
// for clients are cut.
import { encodeEntity, maskOf, shown } from './entities/entities.ts';
import { type Database, keyName, type KeyRef, parseKey } from './entities/entity-keys.ts';
import { readAs, type Services } from './storage/open-transactions.ts';
import { sortedOrders, type Storage, type Stored } from './storage/storage.ts';
import {
  encoder,
  enumValue,
  type LookupRequest,
  type Query,
  type RunQueryRequest,
  timestampOf,
} from './wire/protocol.ts';
import { inside, invalid, unsupported } from './wire/rpc-status.ts';
import { ANSWER_BYTES_MAX, BATCH_RESULTS_MAX, LOOKUP_KEYS_MAX } from './wire/service-limits.ts';
import { after, isKeysOnly, type KeyRange, keyRangeOf } from './key-range.ts';

const encodeFound = encoder('LookupResponse');

/** The bytes of a result's version, times and tags, which come beside its entity and cursor. */
const RESULT_OVERHEAD_BYTES = 64;

function keysOf({ keys }: LookupRequest, database: Database): KeyRef[] {
  if (keys.length > LOOKUP_KEYS_MAX)
    throw invalid('keys', `must not be more than ${LOOKUP_KEYS_MAX}; there are ${keys.length}`);
  return keys.map((bytes, place) => inside(`keys[${place}]`, () => parseKey(bytes, database, { reserved: 'allowed' })));
}

export function lookup(request: LookupRequest, database: Database, { storage, transactions }: Services): Buffer {
  const keys = keysOf(request, database);
  const mask = maskOf(request.propertyMask);
  const { transaction, isNew } = readAs(request.readOptions, transactions);
  const version = transaction?.snapshot;
  const readVersion = version ?? storage.lastVersion;
  const found: object[] = [];
  const missing: object[] = [];
  const deferred: Buffer[] = [];
  let bytesLeft = ANSWER_BYTES_MAX;
  for (const key of new Map(keys.map((each) => [keyName(each), each])).values()) {
    const stored = storage.get(key, version);
    const entity = stored === undefined ? encodeEntity(key.encoded) : shown(stored.entity!, mask);
    bytesLeft -= entity.length + RESULT_OVERHEAD_BYTES;
    // The first always fits: an entity is smaller than an answer.
    if (bytesLeft < 0) {
      deferred.push(key.encoded);
      continue;
    }
    transaction?.reads.set(keyName(key), key);
    if (stored === undefined) missing.push({ entity, version: readVersion });
    else found.push(resultOf(stored, entity));
  }
  return encodeFound({
    found,
    missing,
    deferred,
    readTime: timestampOf(readVersion),
    ...(isNew === true && { transaction: transaction!.id }),
  });
}

/** An `EntityResult`. */
function resultOf({ version, created }: Stored, entity: Buffer): object {
  return { entity, version, createTime: timestampOf(created), updateTime: timestampOf(version) };
}

const encodeBatch = encoder('RunQueryResponse');
const MORE = (name: string) => enumValue('QueryResultBatch.MoreResultsType', name);
const NOT_FINISHED = MORE('NOT_FINISHED');
const AFTER_LIMIT = MORE('MORE_RESULTS_AFTER_LIMIT');
const NO_MORE = MORE('NO_MORE_RESULTS');
const TYPE = (name: string) => enumValue('EntityResult.ResultType', name);

export function runQuery(request: RunQueryRequest, database: Database, { storage }: Services): Buffer {
  if (request.explainOptions !== null) throw unsupported('explain_options');
  if (request.queryType === 'gqlQuery') throw unsupported('gql_query');
  if (request.queryType === undefined) throw invalid('query_type', 'query must be set');
  const consistency = request.readOptions?.consistencyType ?? 'readConsistency';
  if (consistency !== 'readConsistency') throw unsupported(`read_options: ${consistency} of a query`);
  const { query, partitionId } = request;
  const range = inside('query', () => fromCursor(keyRangeOf(query, partitionId, database), query));
  const limit = inside('query', () => limitOf(query));
  const keysOnly = inside('query', () => isKeysOnly(query));
  const mask = maskOf(request.propertyMask);
  const show = ({ entity }: Stored): Buffer => shown(entity!, keysOnly ? new Set() : mask);
  const batch = batchOf(found(range, storage), { limit, show, cursorAt: (order) => cursorOf(range, order) });
  return encodeBatch({
    batch: {
      entityResultType: TYPE(keysOnly ? 'KEY_ONLY' : 'FULL'),
      endCursor: query.startCursor,
      ...batch,
      snapshotVersion: storage.lastVersion,
      readTime: timestampOf(storage.lastVersion),
    },
  });
}

function limitOf({ offset, limit }: Query): number {
  if (offset < 0) throw invalid('offset', 'must not be negative');
  if (offset > 0) throw unsupported('offset');
  if (limit !== null && limit.value < 0) throw invalid('limit', 'must not be negative');
  return limit?.value ?? Infinity;
}

/** The range behind the query's cursor. */
function fromCursor(range: KeyRange, { startCursor, endCursor }: Query): KeyRange {
  if (endCursor.length > 0) throw unsupported('end_cursor');
  if (startCursor.length === 0) return range;
  const prefix = cursorOf(range, '');
  if (!startCursor.subarray(0, prefix.length).equals(prefix))
    throw invalid('start_cursor', 'is not a cursor of this query');
  const from = after(startCursor.toString('latin1', prefix.length));
  return from > range.from ? { ...range, from } : range;
}

function cursorOf({ kind }: KeyRange, order: string): Buffer {
  return Buffer.concat([Buffer.from(`${kind}\n`), Buffer.from(order, 'latin1')]);
}

function* found({ partition, kind, from, to }: KeyRange, storage: Storage): Generator<Stored> {
  const table = storage.table(partition, kind);
  if (table === undefined || (to !== undefined && to <= from)) return;
  for (const order of sortedOrders(table, from, to)) {
    const stored = table.states.get(order);
    if (stored?.entity !== undefined) yield stored;
  }
}

interface BatchOptions {
  readonly limit: number;
  readonly show: (stored: Stored) => Buffer;
  readonly cursorAt: (order: string) => Buffer;
}

function batchOf(rows: Iterable<Stored>, { limit, show, cursorAt }: BatchOptions): object {
  const entityResults: { readonly cursor: Buffer }[] = [];
  let bytesLeft = ANSWER_BYTES_MAX;
  let moreResults = NO_MORE;
  for (const stored of rows) {
    const isLimited = entityResults.length >= limit;
    const entity = show(stored);
    const cursor = cursorAt(stored.order);
    bytesLeft -= entity.length + cursor.length + RESULT_OVERHEAD_BYTES;
    if (isLimited || entityResults.length === BATCH_RESULTS_MAX || (bytesLeft < 0 && entityResults.length > 0)) {
      moreResults = isLimited ? AFTER_LIMIT : NOT_FINISHED;
      break;
    }
    entityResults.push({ ...resultOf(stored, entity), cursor });
  }
  const last = entityResults.at(-1);
  return { entityResults, moreResults, ...(last === undefined ? {} : { endCursor: last.cursor }) };
}
