// The calls of the API by name: how each reads its request, and what it answers.
import { type Database, type KeyRef, parseKey } from './entities/keys.ts';
import { runAggregation } from './queries/aggregation.ts';
import { lookup, lookupKeys } from './queries/lookup.ts';
import { runQuery } from './queries/run-query.ts';
import type { Services } from './storage/services.ts';
import { decoder, encoder, type Messages, type Request } from './wire/protocol.ts';
import { inside, invalid } from './wire/status.ts';
import { checkCommit, commit } from './writes/commit.ts';

export const RPCS = [
  'Lookup',
  'RunQuery',
  'RunAggregationQuery',
  'BeginTransaction',
  'Commit',
  'Rollback',
  'AllocateIds',
  'ReserveIds',
] as const;

export type Rpc = (typeof RPCS)[number];

/** A valid request, ready to be answered. */
export interface Call {
  /** The keys that the request names; none for a query. */
  readonly keys: readonly KeyRef[];
  /** True for a non-transactional commit, of which a part may be applied. */
  readonly divisible: boolean;
  /**
   * Answers with the encoded response, or throws a StatusError. For a commit, `only` leaves out
   * mutations by their index.
   */
  run(only?: (index: number) => boolean): Buffer;
}

type Prepare = (bytes: Buffer, services: Services) => Call;

const PREPARE: Readonly<Record<Rpc, Prepare>> = {
  Lookup: prepare('LookupRequest', (request, database, services) => {
    const keys = lookupKeys(request, database);
    return { keys, divisible: false, run: () => lookup(request, keys, services) };
  }),
  Commit: prepare('CommitRequest', (request, database, services) => {
    const mutations = checkCommit(request, database);
    return {
      keys: mutations.map(({ key }) => key),
      divisible: request.transactionSelector === undefined,
      run: (only = () => true) =>
        commit(
          request,
          mutations.filter((_, index) => only(index)),
          database,
          services,
        ),
    };
  }),
  RunQuery: prepare('RunQueryRequest', (request, database, services) => ({
    keys: [],
    divisible: false,
    run: () => runQuery(request, database, services),
  })),
  RunAggregationQuery: prepare('RunAggregationQueryRequest', (request, database, services) => ({
    keys: [],
    divisible: false,
    run: () => runAggregation(request, database, services),
  })),
  BeginTransaction: prepare('BeginTransactionRequest', (request, _, { transactions }) => ({
    keys: [],
    divisible: false,
    run: () => encodeBegun({ transaction: transactions.begin(request.transactionOptions).id }),
  })),
  Rollback: prepare('RollbackRequest', (request, _, { transactions }) => ({
    keys: [],
    divisible: false,
    run: () => {
      transactions.rollback(request.transaction);
      return EMPTY;
    },
  })),
  AllocateIds: prepare('AllocateIdsRequest', (request, database, { ids }) => {
    const keys = request.keys.map((bytes, place) =>
      inside(`keys[${place}]`, () => parseKey(bytes, database, { completeness: 'incomplete' })),
    );
    return {
      keys,
      divisible: false,
      run: () => encodeKeys({ keys: keys.map((key) => ids.allocate(key, database).encoded) }),
    };
  }),
  ReserveIds: prepare('ReserveIdsRequest', (request, database, { ids }) => {
    const keys = request.keys.map((bytes, place) => inside(`keys[${place}]`, () => parseKey(bytes, database)));
    return {
      keys,
      divisible: false,
      run: () => {
        for (const key of keys) ids.reserve(key);
        return EMPTY;
      },
    };
  }),
};

/** Reads the request of a call. Throws INVALID_ARGUMENT naming the field at fault. */
export function prepareCall(rpc: Rpc, bytes: Buffer, services: Services): Call {
  return PREPARE[rpc](bytes, services);
}

const EMPTY = Buffer.alloc(0);
const encodeBegun = encoder('BeginTransactionResponse');
const encodeKeys = encoder('AllocateIdsResponse');

function prepare<M extends keyof Messages>(
  message: M,
  read: (request: Messages[M], database: Database, services: Services) => Call,
): Prepare {
  const decode = decoder(message);
  return (bytes, services) => {
    const request = decode(bytes);
    return read(request, databaseOf(request), services);
  };
}

function databaseOf({ projectId, databaseId }: Request): Database {
  if (projectId === '') throw invalid('project_id', 'must be set');
  if (databaseId === '(default)')
    throw invalid('database_id', 'must be empty for the default database, not "(default)"');
  return { projectId, databaseId };
}
