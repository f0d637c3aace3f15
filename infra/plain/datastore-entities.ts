// A kind of Datastore, by Google's lower-level client: it gives entities as the service sends them.
// The upper one loses index flags, microseconds and the types of numbers.
import type { DatastoreClient, protos } from '@google-cloud/datastore-api';
import { entityOf, keyAt, type KeyPath, type Partition, pathOf, takenProperties } from './datastore-values.ts';
import { keyTemplate } from './key-template.ts';
import { about, valueOf } from './side.ts';
import { PlainError, type PlainOptions, type PlainPage, type PlainPlace, type PlainRecord } from './plain-place.ts';
import { requestsOf, withTries } from './tries.ts';

type Entity = protos.google.datastore.v1.IEntity;
type Query = protos.google.datastore.v1.IQuery;

/** As many mutations as a commit takes, and fewer bytes than its 10 MiB. */
const COMMIT = { itemsMax: 500, bytesMax: 4 * 1024 * 1024 };
const CALL = { timeout: 60_000 };
/** gRPC's numbers of the errors after which a request may succeed if it is sent again. */
const TRANSIENT = new Set([1, 4, 8, 10, 13, 14]);

/** By the path of their keys, ancestors first. */
const KEY_DEFAULT = '{path}';

export interface DatastoreKind {
  readonly projectId: string;
  readonly databaseId: string;
  readonly namespace: string;
  readonly kind: string;
  /** The path of the entities' ancestor: kinds and identifiers in turns. */
  readonly ancestor: KeyPath | undefined;
}

/** Takes over the client, which `close` closes. */
export function datastorePlace(client: DatastoreClient, at: DatastoreKind, options: PlainOptions): PlainPlace {
  const { projectId, databaseId, kind } = at;
  const home: Partition = { projectId, databaseId, namespaceId: at.namespace };
  const target = { projectId, databaseId };
  const keyOf = keyTemplate(options.key ?? KEY_DEFAULT);

  const recordOf = (entity: Entity): PlainRecord => {
    const path = pathOf(entity.key ?? {});
    return about(`the entity ${path.join('/')}`, () => {
      const key = keyOf((name) => partOf(entity, path, name));
      const tellsItself = isSamePath(pathIn(key), path);
      return { key, value: valueOf(takenProperties(entity, home), tellsItself ? undefined : path) };
    });
  };

  async function* pages(cursor: string | undefined, signal: AbortSignal): AsyncGenerator<PlainPage, void> {
    let query: Query | undefined = options.where === undefined ? queryOf(at, home) : undefined;
    const gql = { queryString: `SELECT * FROM \`${kind}\` WHERE ${options.where}`, allowLiterals: true };
    for (let startCursor = cursor; ;) {
      const given =
        query === undefined
          ? { gqlQuery: gql }
          : { query: { ...query, ...(startCursor !== undefined && { startCursor }) } };
      const send = () => client.runQuery({ ...target, partitionId: home, ...given }, CALL);
      const [reply] = await withTries(send, signal, isTransient);
      const { batch } = reply;
      if (batch === null || batch === undefined) throw new PlainError('the service answered a query without a batch');
      // Only the query that the service made of the text can go on from a cursor.
      query ??= reply.query ?? undefined;
      const records = (batch.entityResults ?? []).map(({ entity }) => recordOf(entity ?? {}));
      const isLast = batch.moreResults !== 'NOT_FINISHED' || query === undefined;
      startCursor = Buffer.from(batch.endCursor ?? '').toString('base64');
      yield { records, cursor: isLast ? undefined : startCursor };
      if (isLast) return;
    }
  }

  const put = async (records: readonly PlainRecord[], signal: AbortSignal): Promise<void> => {
    const entities = records.map((record) => about(JSON.stringify(record.key), () => entityFor(record, kind, home)));
    for (const some of requestsOf(entities, sizeOf, COMMIT)) {
      const mutations = some.map((upsert) => ({ upsert }));
      const send = () => client.commit({ ...target, mode: 'NON_TRANSACTIONAL', mutations }, CALL);
      await withTries(send, signal, isTransient);
    }
  };

  return { pages, put, close: () => client.close() };
}

function queryOf({ kind, ancestor }: DatastoreKind, home: Partition): Query {
  const query: Query = { kind: [{ name: kind }] };
  if (ancestor === undefined) return query;
  const keyValue = keyAt(ancestor.toSpliced(-2, 1), String(ancestor.at(-2)), home);
  return {
    ...query,
    filter: { propertyFilter: { property: { name: '__key__' }, op: 'HAS_ANCESTOR', value: { keyValue } } },
  };
}

/** What a template may name: `{id}`, `{path}`, or a property. */
function partOf(entity: Entity, path: KeyPath, name: string): unknown {
  const identifiers = path.filter((_, index) => index % 2 === 1 || index === path.length - 1);
  if (name === 'id') return identifiers.at(-1);
  if (name === 'path') return identifiers.length === 1 ? identifiers[0] : identifiers.map(escaped).join('/');
  const { stringValue, integerValue, booleanValue } = entity.properties?.[name] ?? {};
  return stringValue ?? booleanValue ?? (typeof integerValue === 'string' ? BigInt(integerValue) : integerValue);
}

/** Keeps the parts of a path apart. */
function escaped(part: unknown): string {
  return String(part).replaceAll('%', '%25').replaceAll('/', '%2F');
}

/** The path of an entity that has a record's key for its identifier, which has no ancestor. */
function pathIn(key: string): KeyPath {
  const id = /^[1-9]\d{0,18}$/.test(key) ? BigInt(key) : undefined;
  if (id === undefined || id >= 2n ** 63n) return [key];
  return [Number.isSafeInteger(Number(id)) ? Number(id) : id];
}

function isSamePath(a: KeyPath, b: KeyPath): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

function entityFor({ key, value }: PlainRecord, kind: string, home: Partition): Entity {
  const noted = (value as { readonly $plain?: { readonly key?: KeyPath } }).$plain?.key;
  return entityOf(value, keyAt(noted ?? pathIn(key), kind, home), home);
}

/** About as many bytes as the entity takes in a request. */
function sizeOf({ properties }: Entity): number {
  return Object.entries(properties ?? {}).reduce((sum, [name, value]) => sum + name.length + valueBytes(value), 64);
}

function valueBytes(value: protos.google.datastore.v1.IValue): number {
  const { stringValue, blobValue, arrayValue, entityValue } = value;
  if (typeof stringValue === 'string') return 8 + Buffer.byteLength(stringValue);
  if (blobValue !== undefined && blobValue !== null) return 8 + blobValue.length;
  if (arrayValue !== undefined && arrayValue !== null)
    return (arrayValue.values ?? []).reduce((sum, one) => sum + valueBytes(one), 8);
  return entityValue === undefined || entityValue === null ? 32 : 8 + sizeOf(entityValue);
}

function isTransient(error: unknown): boolean {
  return TRANSIENT.has((error as { readonly code?: number }).code ?? -1);
}
