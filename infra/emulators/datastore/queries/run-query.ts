// RunQuery: one batch of a query's results, with a cursor after each of them.
import { keyBytesOf, keyOnly } from '../entities/entities.ts';
import type { Database } from '../entities/keys.ts';
import { type Mask, maskOf } from '../entities/mask.ts';
import type { Services } from '../storage/services.ts';
import { asOf, type Storage } from '../storage/storage.ts';
import { readAs, type Scope } from '../storage/transactions.ts';
import { ANSWER_BYTES_MAX, BATCH_RESULTS_MAX } from '../wire/limits.ts';
import { encoder, enumValue, type Query, type RunQueryRequest, timestampOf } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/status.ts';
import { decodeCursor, encodeCursor } from './cursors.ts';
import { RESULT_OVERHEAD_BYTES, resultOf, shown } from './lookup.ts';
import { type Plan, planOf } from './plan.ts';
import { comparePlaces, isFound, placeOf, type Row, rowsOf } from './rows.ts';

const encodeResponse = encoder('RunQueryResponse');
const MORE = (name: string) => enumValue('QueryResultBatch.MoreResultsType', name);
const NOT_FINISHED = MORE('NOT_FINISHED');
const AFTER_LIMIT = MORE('MORE_RESULTS_AFTER_LIMIT');
const AFTER_CURSOR = MORE('MORE_RESULTS_AFTER_CURSOR');
const NO_MORE = MORE('NO_MORE_RESULTS');
const TYPE = (name: string) => enumValue('EntityResult.ResultType', name);

export function runQuery(request: RunQueryRequest, database: Database, services: Services): Buffer {
  if (request.explainOptions !== null) throw unsupported('explain_options');
  if (request.queryType === 'gqlQuery') throw unsupported('gql_query');
  if (request.queryType === undefined) throw invalid('query_type', 'query must be set');
  const { query } = request;
  const plan = inside('query', () => planOf(query, request.partitionId, database));
  const mask = maskOf(request.propertyMask);
  if (mask !== undefined && query.projection.length > 0)
    throw invalid('property_mask', 'must not come with a projection');
  const bounds = inside('query', () => boundsOf(query, plan));
  const { transaction, version, began } = readAs(request.readOptions, services.transactions);
  transaction?.readScope(scopeOf(plan, services.storage));
  const readVersion = version ?? services.storage.lastVersion;
  const batch = batchOf(plan, bounds, rowsOf(plan, services.storage, version, bounds.after), mask);
  return encodeResponse({
    batch: { ...batch, snapshotVersion: readVersion, readTime: timestampOf(readVersion) },
    ...(began === undefined ? {} : { transaction: began }),
  });
}

interface Bounds {
  readonly offset: number;
  readonly limit: number;
  readonly after: ReturnType<typeof decodeCursor>;
  readonly until: ReturnType<typeof decodeCursor>;
}

/** Throws INVALID_ARGUMENT naming the field below the query. */
function boundsOf({ offset, limit, startCursor, endCursor }: Query, plan: Plan): Bounds {
  if (offset < 0) throw invalid('offset', 'must not be negative');
  if (limit !== null && limit.value < 0) throw invalid('limit', 'must not be negative');
  return {
    offset,
    limit: limit?.value ?? Infinity,
    after: decodeCursor(plan, startCursor, 'start_cursor'),
    until: decodeCursor(plan, endCursor, 'end_cursor'),
  };
}

/** The part of a query that a transaction checks again at its commit. */
function scopeOf(plan: Plan, storage: Storage): Scope {
  return {
    changedSince(version) {
      for (const { states } of storage.tables(plan.partition, plan.kind)) {
        for (const state of states.values()) {
          if (state.version > version && (isFound(plan, state) || isFound(plan, asOf(state, version)))) return true;
        }
      }
      return false;
    },
  };
}

function batchOf(
  plan: Plan,
  { offset, limit, after, until }: Bounds,
  rows: Iterable<Row>,
  mask: Mask | undefined,
): object {
  const results: object[] = [];
  let cursor: Buffer = after === undefined ? EMPTY : encodeCursor(plan, after);
  let skippedCursor: Buffer = EMPTY;
  let skippedResults = 0;
  let bytesLeft = ANSWER_BYTES_MAX;
  let moreResults = NO_MORE;
  for (const row of rows) {
    if (until !== undefined && comparePlaces(plan, placeOf(row), until) > 0) {
      moreResults = AFTER_CURSOR;
      break;
    }
    if (skippedResults < offset) {
      skippedResults += 1;
      skippedCursor = cursor = encodeCursor(plan, placeOf(row));
      continue;
    }
    const entity = results.length < limit ? shownRow(plan, row, mask) : undefined;
    bytesLeft -= entity === undefined ? 0 : entity.length + RESULT_OVERHEAD_BYTES;
    if (entity === undefined || results.length === BATCH_RESULTS_MAX || (bytesLeft < 0 && results.length > 0)) {
      moreResults = entity === undefined ? AFTER_LIMIT : NOT_FINISHED;
      break;
    }
    cursor = encodeCursor(plan, placeOf(row));
    bytesLeft -= cursor.length;
    results.push({ ...resultOf(row.stored, entity), cursor });
  }
  return {
    entityResultType: TYPE(plan.keysOnly ? 'KEY_ONLY' : 'FULL'),
    entityResults: results,
    endCursor: cursor,
    moreResults,
    skippedResults,
    skippedCursor,
  };
}

const EMPTY = Buffer.alloc(0);

function shownRow(plan: Plan, { stored }: Row, mask: Mask | undefined): Buffer {
  return plan.keysOnly ? keyOnly(keyBytesOf(stored.entity!)) : shown(stored.entity!, mask);
}
