// The low-level client on one server, with short forms for keys, values and calls. Each case has
// its own kind: cases run in any order on a filled server.
import { randomBytes } from 'node:crypto';
import type { google } from '@google-cloud/datastore/build/src/protos.js';
import { DatastoreClient } from '@google-cloud/datastore/build/src/v1/index.js';
import { GoogleAuth, googleAuthLibrary, grpc } from 'google-gax';
import { expect, test } from 'vitest';

export type Key = google.datastore.v1.IKey;
export type Value = google.datastore.v1.IValue;
export type Mutation = google.datastore.v1.IMutation;
export type Query = google.datastore.v1.IQuery;
export type Properties = Record<string, Value>;

export const PROJECT_ID = 'suite';
const ONCE = { retry: null, timeout: 60_000 };

/** Codes of gRPC that the API answers with. */
export const CODE = {
  invalid: 3,
  notFound: 5,
  exists: 6,
  exhausted: 8,
  precondition: 9,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
} as const;

export type Service = ReturnType<typeof serviceAt>;

export function serviceAt(endpoint: string) {
  const { hostname, port } = new URL(endpoint);
  const client = new DatastoreClient({
    projectId: PROJECT_ID,
    universeDomain: 'googleapis.com',
    apiEndpoint: hostname,
    port: Number(port),
    auth: new GoogleAuth({ authClient: new googleAuthLibrary.PassThroughClient() }),
    sslCreds: grpc.credentials.createInsecure(),
    'grpc.enable_http_proxy': 0,
  });
  const commit = async (
    mutations: readonly Mutation[],
    options: google.datastore.v1.ICommitRequest = { mode: 'NON_TRANSACTIONAL' },
  ) => (await client.commit({ projectId: PROJECT_ID, mutations: [...mutations], ...options }, ONCE))[0];
  return {
    client,
    commit,
    lookup: async (keys: readonly Key[], options: google.datastore.v1.ILookupRequest = {}) =>
      (await client.lookup({ projectId: PROJECT_ID, keys: [...keys], ...options }, ONCE))[0],
    query: async (query: Query, options: google.datastore.v1.IRunQueryRequest = {}) =>
      (await client.runQuery({ projectId: PROJECT_ID, query, ...options }, ONCE))[0].batch!,
    begin: async () => (await client.beginTransaction({ projectId: PROJECT_ID }, ONCE))[0].transaction as Uint8Array,
    /** Commits in a transaction. */
    commitIn: (transaction: Uint8Array, mutations: readonly Mutation[]) =>
      commit(mutations, { mode: 'TRANSACTIONAL', transaction }),
    rollback: (transaction: Uint8Array) => client.rollback({ projectId: PROJECT_ID, transaction }, ONCE),
    close: () => client.close(),
  };
}

export function freshKind(): string {
  return `K${randomBytes(6).toString('hex')}`;
}

/** A key of alternating kinds and identifiers; the last identifier may be missing. */
export function key(...path: readonly (string | number)[]): Key {
  const elements: google.datastore.v1.Key.IPathElement[] = [];
  for (let place = 0; place < path.length; place += 2) {
    const id = path[place + 1];
    const kind = String(path[place]);
    elements.push(id === undefined ? { kind } : typeof id === 'number' ? { kind, id } : { kind, name: id });
  }
  return { partitionId: { projectId: PROJECT_ID }, path: elements };
}

export const text = (stringValue: string): Value => ({ stringValue });
export const plain = (stringValue: string): Value => ({ stringValue, excludeFromIndexes: true });
export const integer = (integerValue: number): Value => ({ integerValue });
export const blob = (sizeBytes: number): Value => ({ blobValue: Buffer.alloc(sizeBytes, 7), excludeFromIndexes: true });

export const upsert = (at: Key, properties: Properties = {}): Mutation => ({ upsert: { key: at, properties } });
export const insert = (at: Key, properties: Properties = {}): Mutation => ({ insert: { key: at, properties } });
export const update = (at: Key, properties: Properties = {}): Mutation => ({ update: { key: at, properties } });
export const remove = (at: Key): Mutation => ({ delete: at });

/** The condition that a mutation states. */
export const at = (baseVersion: string | number) => ({ baseVersion, conflictResolutionStrategy: 'FAIL' as const });

export const comparison = (
  name: string,
  op: keyof typeof google.datastore.v1.PropertyFilter.Operator,
  value: Value,
): google.datastore.v1.IFilter => ({ propertyFilter: { property: { name }, op, value } });

export const both = (...filters: google.datastore.v1.IFilter[]): google.datastore.v1.IFilter => ({
  compositeFilter: { op: 'AND', filters },
});

export const ascending = (name: string) => ({ property: { name }, direction: 'ASCENDING' as const });
export const descending = (name: string) => ({ property: { name }, direction: 'DESCENDING' as const });

/** Last identifiers of what a batch found, in its order. */
export function namesOf(batch: google.datastore.v1.IQueryResultBatch): string[] {
  return (batch.entityResults ?? []).map(({ entity: found }) => {
    const last = found?.key?.path?.at(-1);
    return String(last?.name ?? last?.id);
  });
}

/** Version of the result at a place. */
export function versionOf(response: google.datastore.v1.ICommitResponse, place = 0): number {
  return Number(response.mutationResults?.[place]?.version);
}

/** Names and contents of a found entity's properties. */
export async function contentOf(service: Service, at: Key): Promise<Record<string, unknown> | undefined> {
  const { found } = await service.lookup([at]);
  const properties = found?.[0]?.entity?.properties;
  if (properties === undefined || properties === null) return undefined;
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, contentOfValue(value)]));
}

function contentOfValue(value: Value): unknown {
  const content = value.stringValue ?? value.integerValue ?? value.doubleValue ?? value.booleanValue ?? value.blobValue;
  return value.integerValue === undefined || value.integerValue === null ? content : Number(content);
}

export interface Difference {
  /** Title of the case. */
  readonly case: string;
  /** This server's own behaviour, and the words that say who is right. */
  readonly why: string;
  /** It would wait for a lock until the deadline. */
  readonly hangs?: boolean;
}

/** `kind` is the case's own. */
export type Declare = (title: string, body: (service: Service, kind: string) => Promise<void>) => void;

/** Declares cases on one server. A known difference must FAIL, so that its end is noticed. */
export function declarer(service: () => Service, differences: readonly Difference[]): Declare {
  return (title, body) => {
    const difference = differences.find((entry) => entry.case === title);
    const run = difference === undefined ? test : difference.hangs === true ? test.skip : test.fails;
    const shown = difference === undefined ? title : `${title} (differs: ${difference.why})`;
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- the cases hold both
    run(shown, () => body(service(), freshKind()));
  };
}

/** Declares that a call is INVALID_ARGUMENT. */
export function refuser(declare: Declare) {
  return (title: string, call: (service: Service, kind: string) => Promise<unknown>): void =>
    declare(`${title} is INVALID_ARGUMENT`, (service, kind) => expectCode(CODE.invalid, call(service, kind)));
}

/** The call must be refused with this code. */
export async function expectCode(code: number, call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ code });
}
