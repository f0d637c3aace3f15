// Datastore's values as those of records, and back. All of its types but the legacy `meaning`.
import type { protos } from '@google-cloud/datastore-api';
import { instantOf, takenInstant } from './instant.ts';
import { PlainError } from './plain-place.ts';
import { about, type Side, type SideType, type Taken, takenApart, takenDouble, valueOf } from './side.ts';

type Value = protos.google.datastore.v1.IValue;
type Entity = protos.google.datastore.v1.IEntity;
type Key = protos.google.datastore.v1.IKey;
/** Kinds and identifiers in turns, the last kind left out; a number is an id, a text a name. */
export type KeyPath = NonNullable<Side['key']>;

const INT64_LEAST = -(2n ** 63n);
const INT64_MOST = 2n ** 63n - 1n;

/** The project, database and namespace of keys that name none. */
export type Partition = Readonly<Record<'projectId' | 'databaseId' | 'namespaceId', string>>;

export function takenProperties(entity: Entity, home: Partition): [string, Taken][] {
  return Object.entries(entity.properties ?? {}).map(([name, value]) => [name, takenProperty(value, home)]);
}

function takenProperty(value: Value, home: Partition): Taken {
  if (value.arrayValue === undefined || value.arrayValue === null) {
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
  if (value.blobValue !== undefined && value.blobValue !== null)
    return { value: new Uint8Array(value.blobValue as Uint8Array) };
  if (value.timestampValue !== undefined && value.timestampValue !== null) {
    const { seconds, nanos } = value.timestampValue;
    return takenInstant({ seconds: BigInt(String(seconds ?? 0)), nanos: nanos ?? 0 });
  }
  if (value.geoPointValue !== undefined && value.geoPointValue !== null) {
    const { latitude, longitude } = value.geoPointValue;
    return { value: { latitude: latitude ?? 0, longitude: longitude ?? 0 }, type: 'geoPoint' };
  }
  if (value.keyValue !== undefined && value.keyValue !== null)
    return { value: keyValue(value.keyValue, home), type: 'key' };
  if (value.entityValue !== undefined && value.entityValue !== null) {
    const { key } = value.entityValue;
    if (key?.path !== undefined && key.path !== null && key.path.length > 0)
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
export function pathOf({ path }: Key): KeyPath {
  return (path ?? []).flatMap((element, index, all) =>
    index === all.length - 1 ? [identifierOf(element)] : [element.kind ?? '', identifierOf(element)],
  );
}

/** The key at a path without its last kind, which is `kind`. */
export function keyAt(path: KeyPath, kind: string, home: Partition): Key {
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
