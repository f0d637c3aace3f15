// Entities are checked when they arrive, with their bytes counted as the service does, and kept
// encoded. Only a patch, a mask or a comparison decodes them again.
import { isUtf8 } from 'node:buffer';
import {
  ENTITY_BYTES_MAX,
  ENTITY_OVERHEAD_BYTES,
  GEO_POINT_BYTES,
  INDEXED_BYTES_MAX,
  NESTED_ENTITIES_MAX,
  NUMBER_BYTES,
  PROPERTY_BYTES_MAX,
  STRING_OVERHEAD_BYTES,
} from '../wire/service-limits.ts';
import { decoder, encoder, type Entity, type Property, type PropertyMask, type Value } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/rpc-status.ts';
import { checkPath, type Database, isReserved, KEY, type KeyRef, parseKey } from './entity-keys.ts';

/** Properties with their values encoded, by name. */
export type Properties = ReadonlyMap<string, Property>;

/** The surroundings of a property. */
export interface Place {
  readonly database: Database;
  /** How many entities are around it, without the outermost. */
  readonly depth: number;
}

interface Checked<Part> {
  readonly part: Part;
  /** By the service's formula. */
  readonly sizeBytes: number;
}

const decodeValue = decoder('Value');
const encodeValue = encoder('Value');
const decodeEntity = decoder('Entity');
const encodeWhole = encoder('Entity');
const decodeArray = decoder('ArrayValue');
const encodeArray = encoder('ArrayValue');
const decodeTimestamp = decoder('google.protobuf.Timestamp');
const encodeTimestamp = encoder('google.protobuf.Timestamp');
const decodePoint = decoder('google.type.LatLng');

export interface CheckedProperties {
  /** As they are stored. */
  readonly properties: Properties;
  /** Bytes by the service's formula. */
  readonly sizeBytes: number;
}

export interface CheckedEntity extends CheckedProperties {
  /** As it came. */
  readonly key: Buffer;
}

/** Checks the properties, but not the size. Throws INVALID_ARGUMENT that names the field. */
export function parseEntity(bytes: Buffer, database: Database): CheckedEntity {
  const entity = decodeEntity(bytes);
  const checked = checkedProperties(byName(entity), database);
  if (entity.key.length === 0) throw invalid('key', 'must be set');
  return { key: entity.key, ...checked };
}

/** Encodes the stored form, which shares no memory with the request. `key` is already encoded. */
export function encodeEntity(key: Buffer, properties: Properties = new Map()): Buffer {
  return encodeWhole({ key, properties: [...properties.values()] });
}

/** The properties of a stored entity; they share its memory. */
export function propertiesOf(entity: Buffer): Properties {
  return byName(decodeEntity(entity));
}

function byName({ properties }: Entity): Properties {
  return new Map(properties.map((property) => [property.name.toString(), property]));
}

/** A stored entity as a mask shows it. */
export function shown(entity: Buffer, mask: Mask | undefined): Buffer {
  return mask === undefined ? entity : encodeEntity(decodeEntity(entity).key, masked(propertiesOf(entity), mask));
}

/** Whether both have the same properties, in any order: then a write changes nothing. */
export function sameProperties(one: Properties, other: Properties): boolean {
  return (
    one.size === other.size && [...one].every(([name, { value }]) => other.get(name)?.value.equals(value) === true)
  );
}

/** Throws an error that names the wrong property. */
export function checkedProperties(properties: Properties, database: Database): CheckedProperties {
  const checked = [...properties].map(([name, one]) => ({ name, ...checkedProperty(one, { database, depth: 0 }) }));
  return { properties: new Map(checked.map(({ name, part }) => [name, part])), sizeBytes: sumOf(checked) };
}

/** Throws INVALID_ARGUMENT if key and properties together are larger than an entity may be. */
export function checkEntityBytes(key: KeyRef, propertiesBytes: number): void {
  const sizeBytes = ENTITY_OVERHEAD_BYTES + key.sizeBytes + propertiesBytes;
  if (sizeBytes > ENTITY_BYTES_MAX)
    throw invalid('', `the entity has ${sizeBytes} bytes; it must not be larger than ${ENTITY_BYTES_MAX} bytes`);
}

/** Names of the properties that a read shows, or a write touches. */
export type Mask = ReadonlySet<string>;

/** Undefined without a mask: all properties. Throws an error that names a wrong path. */
export function maskOf(mask: PropertyMask | null): Mask | undefined {
  if (mask === null) return undefined;
  for (const [place, path] of mask.paths.entries())
    inside(`property_mask.paths[${place}]`, () => {
      if (path === '') throw invalid('', 'must not be empty');
      checkPath(path, '');
    });
  return new Set(mask.paths.filter((path) => path !== KEY));
}

function masked(properties: Properties, mask: Mask): Properties {
  return new Map([...properties].filter(([name]) => mask.has(name)));
}

/** Takes the properties that the mask names from `given`, and all others from `present`. */
export function merged(present: Properties, given: Properties, mask: Mask): Properties {
  const kept = [...present].filter(([name]) => !mask.has(name));
  return new Map([...kept, ...masked(given, mask)]);
}

/** The property as it is stored. Errors name the property or a field in its value. */
export function checkedProperty({ name: nameBytes, value }: Property, place: Place): Checked<Property> {
  if (nameBytes.length === 0) throw invalid('properties', 'a property name must not be empty');
  if (!isUtf8(nameBytes)) throw invalid('properties', 'a property name must be valid UTF-8');
  const name = nameBytes.toString();
  if (nameBytes.length > INDEXED_BYTES_MAX)
    throw invalid('properties', `a property name must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (isReserved(name)) throw invalid(`properties.${name}`, 'the name is reserved');
  const checked = inside(`properties.${name}`, () => checkedValue(value, place));
  return {
    part: { name: nameBytes, value: checked.part },
    sizeBytes: nameBytes.length + STRING_OVERHEAD_BYTES + checked.sizeBytes,
  };
}

/** Checks a value. Gives a `part` only if its stored content differs from what was sent. */
type Check = (value: Value, place: Place) => Partial<Checked<Buffer>> & Pick<Checked<Buffer>, 'sizeBytes'>;

const fixed =
  (sizeBytes: number): Check =>
  () => ({ sizeBytes });

const CHECKS: Readonly<Record<string, Check>> = {
  nullValue: fixed(1),
  booleanValue: fixed(1),
  integerValue: fixed(NUMBER_BYTES),
  doubleValue: fixed(NUMBER_BYTES),
  blobValue: ({ blobValue, excludeFromIndexes }) => ({
    sizeBytes: checkLength('blob_value', blobValue.length, excludeFromIndexes),
  }),
  stringValue({ stringValue: text, excludeFromIndexes }) {
    if (!isUtf8(text)) throw invalid('string_value', 'must be valid UTF-8');
    return { sizeBytes: checkLength('string_value', text.length, excludeFromIndexes) + STRING_OVERHEAD_BYTES };
  },
  timestampValue: ({ timestampValue }) => inside('timestamp_value', () => checkedTimestamp(timestampValue)),
  geoPointValue({ geoPointValue }) {
    const { latitude, longitude } = inside('geo_point_value', () => decodePoint(geoPointValue));
    if (!(Math.abs(latitude) <= 90)) throw invalid('geo_point_value.latitude', 'must be from -90 to 90');
    if (!(Math.abs(longitude) <= 180)) throw invalid('geo_point_value.longitude', 'must be from -180 to 180');
    return { sizeBytes: GEO_POINT_BYTES };
  },
  keyValue({ keyValue }, { database }) {
    const rules = { reserved: 'allowed', foreign: 'allowed' } as const;
    const { encoded, sizeBytes } = inside('key_value', () => parseKey(keyValue, database, rules));
    return { part: encoded, sizeBytes };
  },
  arrayValue({ arrayValue, excludeFromIndexes }, place) {
    if (excludeFromIndexes) throw invalid('exclude_from_indexes', 'must be set on the values of an array, not on it');
    return inside('array_value', () => checkedArray(arrayValue, place));
  },
  entityValue({ entityValue }, { database, depth }) {
    if (depth === NESTED_ENTITIES_MAX)
      throw invalid('entity_value', `must not be nested deeper than ${NESTED_ENTITIES_MAX} times`);
    return inside('entity_value', () => checkedEntity(entityValue, { database, depth: depth + 1 }));
  },
};

function checkedValue(bytes: Buffer, place: Place): Checked<Buffer> {
  const value = decodeValue(bytes);
  const { valueType: type, meaning, excludeFromIndexes } = value;
  if (meaning !== 0) throw unsupported('meaning');
  if (type === undefined) throw invalid('', 'has no value set');
  const { part, sizeBytes } = CHECKS[type]!(value, place);
  if (part === undefined) return { part: bytes, sizeBytes };
  return { part: encodeValue({ [type]: part, ...(excludeFromIndexes && { excludeFromIndexes }) }), sizeBytes };
}

/** From the year 1 to the year 9999 (timestamp.proto). */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;

/** Rounds down to microseconds, as the service does. */
function checkedTimestamp(bytes: Buffer): Checked<Buffer> {
  const { seconds, nanos } = decodeTimestamp(bytes);
  if (!(Number(seconds) >= SECONDS_MIN && Number(seconds) <= SECONDS_MAX))
    throw invalid('seconds', 'must be from year 1 to year 9999');
  if (nanos < 0 || nanos > 999_999_999) throw invalid('nanos', 'must be from 0 to 999,999,999');
  return { part: encodeTimestamp({ seconds, nanos: nanos - (nanos % 1_000) }), sizeBytes: NUMBER_BYTES };
}

function checkedArray(bytes: Buffer, place: Place): Checked<Buffer> {
  const values = decodeArray(bytes).values.map((value, at) =>
    inside(`values[${at}]`, () => {
      if (decodeValue(value).valueType === 'arrayValue') throw invalid('', 'must not be an array');
      return checkedValue(value, place);
    }),
  );
  return { part: encodeArray({ values: values.map(({ part }) => part) }), sizeBytes: Math.max(1, sumOf(values)) };
}

/** An entity inside another one, which may lack a key. Its size is as Google's emulator counts. */
function checkedEntity(bytes: Buffer, place: Place): Checked<Buffer> {
  const { key: keyBytes, properties } = decodeEntity(bytes);
  const rules = { reserved: 'allowed', foreign: 'allowed', incomplete: 'allowed' } as const;
  const key = keyBytes.length === 0 ? undefined : inside('key', () => parseKey(keyBytes, place.database, rules));
  const checked = properties.map((property) => checkedProperty(property, place));
  return {
    part: encodeWhole({ ...(key && { key: key.encoded }), properties: checked.map(({ part }) => part) }),
    sizeBytes: Math.max(1, (key ? ENTITY_OVERHEAD_BYTES + key.sizeBytes : 0) + sumOf(checked)),
  };
}

function sumOf(all: readonly Checked<unknown>[]): number {
  return all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function checkLength(name: string, sizeBytes: number, isExcluded: boolean): number {
  if (sizeBytes > PROPERTY_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; a value must not be larger than ${PROPERTY_BYTES_MAX} bytes`);
  if (!isExcluded && sizeBytes > INDEXED_BYTES_MAX)
    throw invalid(name, `has ${sizeBytes} bytes; an indexed value must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  return sizeBytes;
}
