// The calls of the API by name. Each reads its request and answers it.
import type { Database } from './entities/entity-keys.ts';
import { lookup } from './queries/lookup-rpc.ts';
import { runQuery } from './queries/run-query.ts';
import type { Services } from './storage/open-transactions.ts';
import { decoder, encoder, type Messages, type Request } from './wire/protocol.ts';
import { inside, invalid, unsupported } from './wire/rpc-status.ts';
import { allocateIds } from './writes/allocate.ts';
import { commit } from './writes/commit-rpc.ts';

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

/** Answers an encoded request with the encoded response, or throws a StatusError. */
type Call = (bytes: Buffer, services: Services) => Buffer;

/** A call as a network sees it on its way. */
export interface Sent {
  readonly kind: 'read' | 'query' | 'commit';
  /** The encoded keys of the entities that it names. */
  readonly ids: readonly string[];
  readonly bytes: number;
}

/** A request that cannot be read names no entities; its answer will say why. */
export function sentOf(rpc: Rpc, request: Buffer): Sent {
  const kind = rpc === 'Commit' ? 'commit' : rpc === 'RunQuery' ? 'query' : 'read';
  return { kind, ids: keysOf(rpc, request).map((key) => key.toString('latin1')), bytes: request.length };
}

const decodeLookup = decoder('LookupRequest');
const decodeCommit = decoder('CommitRequest');
const decodeEntity = decoder('Entity');

function keysOf(rpc: Rpc, request: Buffer): readonly Buffer[] {
  try {
    if (rpc === 'Lookup') return decodeLookup(request).keys;
    if (rpc !== 'Commit') return [];
    return decodeCommit(request).mutations.flatMap(({ operation, ...entities }) => {
      if (operation === undefined) return [];
      return operation === 'delete' ? entities.delete : decodeEntity(entities[operation]).key;
    });
  } catch {
    return [];
  }
}

const EMPTY = Buffer.alloc(0);
const encodeBegun = encoder('BeginTransactionResponse');

export const CALLS: Readonly<Record<Rpc, Call>> = {
  Lookup: reading('LookupRequest', lookup),
  RunQuery: reading('RunQueryRequest', runQuery),
  RunAggregationQuery: refusing('RunAggregationQuery'),
  Commit: reading('CommitRequest', commit),
  AllocateIds: reading('AllocateIdsRequest', allocateIds),
  ReserveIds: refusing('ReserveIds'),
  BeginTransaction: reading('BeginTransactionRequest', (request, _, { transactions }) =>
    encodeBegun({ transaction: transactions.begin(request.transactionOptions).id }),
  ),
  Rollback: reading('RollbackRequest', (request, _, { transactions }) => {
    transactions.rollback(request.transaction);
    return EMPTY;
  }),
};

function reading<M extends keyof Messages & `${string}Request`>(
  message: M,
  answer: (request: Messages[M], database: Database, services: Services) => Buffer,
): Call {
  const decode = decoder(message);
  return (bytes, services) => {
    const request = inside(message, () => decode(bytes));
    return answer(request, databaseOf(request), services);
  };
}

function refusing(rpc: Rpc): Call {
  return () => {
    throw unsupported(rpc);
  };
}

function databaseOf({ projectId, databaseId }: Request): Database {
  if (projectId === '') throw invalid('project_id', 'must be set');
  if (databaseId === '(default)')
    throw invalid('database_id', 'must be empty for the default database, not "(default)"');
  return { projectId, databaseId };
}
