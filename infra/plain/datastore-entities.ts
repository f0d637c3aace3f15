// A kind of Datastore as plain entities, and its values as those of records: all types but the
// legacy `meaning`. By Google's lower-level client, which gives entities as the service sends them:
// the upper one loses index flags, microseconds and the types of numbers.
import type { DatastoreClient, protos } from '@google-cloud/datastore-api';
import {
  about,
  instantOf,
  keyTemplate,
  notedKey,
  PlainError,
  type PlainOptions,
  type PlainPage,
  type PlainPlace,
  type PlainRecord,
  requestsOf,
  type Side,
  type SideType,
  type Taken,
  takenApart,
  takenDouble,
  takenInstant,
  valueOf,
  withTries,
} from './plain-place.ts';

type Entity = protos.google.datastore.v1.IEntity;
type Key = protos.google.datastore.v1.IKey;
type Query = protos.google.datastore.v1.IQuery;
type Value = protos.google.datastore.v1.IValue;
/** Kinds and identifiers in turns, the last kind left out; a number is an id, a text a name. */
type KeyPath = NonNullable<Side['key']>;
/** The project, database and namespace of keys that name none. */
type Partition = Readonly<Record<'projectId' | 'databaseId' | 'namespaceId', string>>;

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
      if (!batch) throw new PlainError('the service answered a query without a batch');
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
  return entityOf(value, keyAt(notedKey(value) ?? pathIn(key), kind, home), home);
}

/** About as many bytes as the entity takes in a request. */
function sizeOf({ properties }: Entity): number {
  return Object.entries(properties ?? {}).reduce((sum, [name, value]) => sum + name.length + valueBytes(value), 64);
}

function valueBytes(value: Value): number {
  const { stringValue, blobValue, arrayValue, entityValue } = value;
  if (typeof stringValue === 'string') return 8 + Buffer.byteLength(stringValue);
  if (blobValue) return 8 + blobValue.length;
  if (arrayValue) return (arrayValue.values ?? []).reduce((sum, one) => sum + valueBytes(one), 8);
  return entityValue ? 8 + sizeOf(entityValue) : 32;
}

function isTransient(error: unknown): boolean {
  return TRANSIENT.has((error as { readonly code?: number }).code ?? -1);
}

const INT64_LEAST = -(2n ** 63n);
const INT64_MOST = 2n ** 63n - 1n;

function takenProperties(entity: Entity, home: Partition): [string, Taken][] {
  return Object.entries(entity.properties ?? {}).map(([name, value]) => [name, takenProperty(value, home)]);
}

function takenProperty(value: Value, home: Partition): Taken {
  if (!value.arrayValue) {
    const { value: plain, type } = takenValue(value, home);
    return { value: plain, type, unindexed: value.excludeFromIndexes === true ? true : undefined };
  }
  const elements = value.arrayValue.values ?? [];
  const taken = elements.map((element) => takenValue(element, home));
  const types = taken.flatMap(({ type }, index) => (type === undefined ? [] : [[String(index), type as SideType]]));
  const unindexed = elements.flatMap(({ excludeFromIndexes }, index) => (excludeFromIndexes === true ? [index] : []));
  return {
    value: taken.map((one) => one.value),
    type: types.length === 0 ? undefined : (Object.fromEntries(types) as Record<string, SideType>),
    unindexed: unindexed.length === 0 ? undefined : unindexed.length === elements.length ? true : unindexed,
  };
}

function takenValue(value: Value, home: Partition): Taken {
  if (typeof value.booleanValue === 'boolean') return { value: value.booleanValue };
  if (typeof value.stringValue === 'string') return { value: value.stringValue };
  if (value.integerValue !== undefined && value.integerValue !== null) return { value: integerIn(value.integerValue) };
  if (typeof value.doubleValue === 'number') return takenDouble(value.doubleValue);
  if (value.blobValue) return { value: new Uint8Array(value.blobValue as Uint8Array) };
  if (value.timestampValue) {
    const { seconds, nanos } = value.timestampValue;
    return takenInstant({ seconds: BigInt(String(seconds ?? 0)), nanos: nanos ?? 0 });
  }
  if (value.geoPointValue) {
    const { latitude, longitude } = value.geoPointValue;
    return { value: { latitude: latitude ?? 0, longitude: longitude ?? 0 }, type: 'geoPoint' };
  }
  if (value.keyValue) return { value: keyValue(value.keyValue, home), type: 'key' };
  if (value.entityValue) {
    if ((value.entityValue.key?.path ?? []).length > 0)
      throw new PlainError('an embedded entity has a key of its own, which no record can hold');
    return { value: valueOf(takenProperties(value.entityValue, home)) };
  }
  return { value: null };
}

/** A number, or a bigint where that would round. */
function integerIn(text: unknown): number | bigint {
  const exact = BigInt(String(text));
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

/** Kinds and identifiers in turns; in an object if the key is of another partition. */
function keyValue({ path, partitionId }: Key, home: Partition): unknown {
  const flat = (path ?? []).flatMap((element) => [element.kind ?? '', identifierOf(element)]);
  const { projectId, databaseId, namespaceId } = { ...home, ...partitionId };
  const isHome = projectId === home.projectId && databaseId === home.databaseId && namespaceId === home.namespaceId;
  return isHome ? flat : { path: flat, projectId, databaseId, namespaceId };
}

function identifierOf({ id, name }: protos.google.datastore.v1.Key.IPathElement): string | number | bigint {
  if (typeof name === 'string' && name !== '') return name;
  if (id === undefined || id === null || String(id) === '0') throw new PlainError('a key in it is incomplete');
  return integerIn(id);
}

/** The path of an entity's key, its own kind left out. */
function pathOf({ path }: Key): KeyPath {
  return (path ?? []).flatMap((element, index, all) =>
    index === all.length - 1 ? [identifierOf(element)] : [element.kind ?? '', identifierOf(element)],
  );
}

/** The key at a path without its last kind, which is `kind`. */
function keyAt(path: KeyPath, kind: string, home: Partition): Key {
  return keyOf([...path.slice(0, -1), kind, ...path.slice(-1)], home);
}

function keyOf(flat: readonly unknown[], partitionId: Partition): Key {
  if (flat.length === 0 || flat.length % 2 !== 0) throw new PlainError('a key takes kinds and identifiers in turns');
  const path = Array.from({ length: flat.length / 2 }, (_, index) => {
    const [kind, identifier] = [flat[2 * index], flat[2 * index + 1]];
    if (typeof kind !== 'string') throw new PlainError('the kind in a key is no text');
    if (typeof identifier === 'string') return { kind, name: identifier };
    if (typeof identifier !== 'number' && typeof identifier !== 'bigint')
      throw new PlainError('an identifier in a key is neither a text nor a whole number');
    return { kind, id: int64(identifier) };
  });
  return { partitionId, path };
}

/** Throws a PlainError that names the property. */
export function entityOf(value: unknown, key: Key | undefined, home: Partition): Entity {
  const { properties, side } = takenApart(value);
  const made = properties.map(([name, one]) => {
    const noted = { type: side.types?.[name], unindexed: side.unindexed?.[name] };
    return [name, about(name, () => propertyOf(one, noted, home))] as const;
  });
  return { ...(key !== undefined && { key }), properties: Object.fromEntries(made) };
}

interface Noted {
  readonly type: SideType | Readonly<Record<string, SideType>> | undefined;
  readonly unindexed: true | readonly number[] | undefined;
}

function propertyOf(value: unknown, { type, unindexed }: Noted, home: Partition): Value {
  const isKey = type === 'key';
  if (!Array.isArray(value) || isKey) {
    const made = valueAs(value, typeof type === 'string' ? type : undefined, home);
    return unindexed === true ? { ...made, excludeFromIndexes: true } : made;
  }
  const values = value.map((element: unknown, index) => {
    const own = typeof type === 'object' ? type[String(index)] : undefined;
    if (Array.isArray(element) && own !== 'key') throw new PlainError('Datastore keeps no list within a list');
    const made = valueAs(element, own, home);
    const isUnindexed = unindexed === true || unindexed?.includes(index) === true;
    return isUnindexed ? { ...made, excludeFromIndexes: true } : made;
  });
  return { arrayValue: { values } };
}

function valueAs(value: unknown, type: SideType | undefined, home: Partition): Value {
  if (value === null) return { nullValue: 'NULL_VALUE' };
  if (type === 'timestamp' || value instanceof Date) return { timestampValue: timestampOf(value) };
  if (type === 'key') return { keyValue: keyIn(value, home) };
  if (type === 'geoPoint') {
    const { latitude, longitude } = value as { latitude: number; longitude: number };
    return { geoPointValue: { latitude, longitude } };
  }
  if (typeof value === 'boolean') return { booleanValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number' && (type === 'double' || !Number.isInteger(value) || Object.is(value, -0)))
    return { doubleValue: value };
  if (typeof value === 'number' || typeof value === 'bigint') return { integerValue: int64(value) };
  if (value instanceof Uint8Array) return { blobValue: value };
  return { entityValue: entityOf(value, undefined, home) };
}

function keyIn(value: unknown, home: Partition): Key {
  if (Array.isArray(value)) return keyOf(value, home);
  const { path, projectId, databaseId, namespaceId } = value as { path: unknown[] } & Partition;
  return keyOf(path, { projectId, databaseId, namespaceId });
}

function timestampOf(value: unknown): { readonly seconds: string; readonly nanos: number } {
  const { seconds, nanos } = instantOf(value);
  if (nanos % 1_000 !== 0) throw new PlainError(`${String(value)} is finer than the microseconds that Datastore keeps`);
  return { seconds: String(seconds), nanos };
}

/** In digits, as the client takes it. */
function int64(value: number | bigint): string {
  const exact = BigInt(value);
  if (exact < INT64_LEAST || exact > INT64_MOST) throw new PlainError(`${exact} is beyond 64 bits`);
  return String(exact);
}
