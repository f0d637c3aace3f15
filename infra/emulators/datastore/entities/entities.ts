// Entities: checked as they come in, kept encoded, taken apart only for a patch, a mask or a query.
import { ENTITY_BYTES_MAX, ENTITY_OVERHEAD_BYTES } from '../wire/limits.ts';
import { inside, invalid } from '../wire/status.ts';
import { bytesField, WireReader } from '../wire/wire.ts';
import { type Database, type KeyRef, parseKey } from './keys.ts';
import { checkProperty, type Properties } from './values.ts';

export interface CheckedEntity {
  readonly key: KeyRef;
  readonly properties: Properties;
  /** Bytes by the service's formula. */
  readonly sizeBytes: number;
}

/** Field numbers of `Entity`. */
const KEY = 1;
const PROPERTIES = 3;

/** Checks all but the size, which a patch may change. Throws INVALID_ARGUMENT naming the field. */
export function parseEntity(bytes: Buffer, database: Database): CheckedEntity {
  let keyBytes: Buffer | undefined;
  const properties: Properties = new Map();
  const sizes = new Map<string, number>();
  const reader = new WireReader(bytes);
  while (reader.next()) {
    if (reader.field === KEY) {
      keyBytes = reader.slice();
    } else if (reader.field === PROPERTIES) {
      const property = checkProperty(reader.message());
      properties.set(property.name, bytes.subarray(reader.tagStart, reader.end));
      sizes.set(property.name, property.sizeBytes);
    }
  }
  if (keyBytes === undefined) throw invalid('key', 'must be set');
  const given = keyBytes;
  const key = inside('key', () => parseKey(given, database));
  let sizeBytes = 0;
  for (const size of sizes.values()) sizeBytes += size;
  return { key, properties, sizeBytes };
}

/** Encodes the stored form, which shares no memory with the request. */
export function encodeEntity(key: KeyRef, properties: Properties): Buffer {
  return Buffer.concat([...bytesField(KEY, key.encoded), ...properties.values()]);
}

/** The properties of a stored entity; they share its memory. */
export function propertiesOf(entity: Buffer): Properties {
  const properties: Properties = new Map();
  const reader = new WireReader(entity);
  while (reader.next()) {
    if (reader.field === PROPERTIES) properties.set(propertyName(reader), entity.subarray(reader.tagStart, reader.end));
  }
  return properties;
}

/** True if both hold the same properties, in whichever order: a write of these changes nothing. */
export function sameProperties(one: Properties, other: Properties): boolean {
  return one.size === other.size && [...one].every(([name, entry]) => other.get(name)?.equals(entry) === true);
}

/** The encoded key of a stored entity. */
export function keyBytesOf(entity: Buffer): Buffer {
  const reader = new WireReader(entity);
  while (reader.next()) if (reader.field === KEY) return reader.slice();
  throw new Error('a stored entity has a key');
}

/** An entity that holds a key and no properties. */
export function keyOnly(keyBytes: Buffer): Buffer {
  return Buffer.concat(bytesField(KEY, keyBytes));
}

/** Bytes of stored properties by the service's formula. */
export function propertiesBytes(properties: Properties): number {
  let sizeBytes = 0;
  for (const entry of properties.values()) {
    const outer = new WireReader(entry);
    outer.next();
    sizeBytes += checkProperty(outer.message()).sizeBytes;
  }
  return sizeBytes;
}

/** Throws INVALID_ARGUMENT if key and properties together are larger than an entity may be. */
export function checkEntityBytes(key: KeyRef, propertiesBytes: number): void {
  const sizeBytes = ENTITY_OVERHEAD_BYTES + key.sizeBytes + propertiesBytes;
  if (sizeBytes > ENTITY_BYTES_MAX)
    throw invalid('', `the entity has ${sizeBytes} bytes; it must not be larger than ${ENTITY_BYTES_MAX} bytes`);
}

function propertyName(reader: WireReader): string {
  const entry = reader.message();
  while (entry.next()) if (entry.field === 1) return entry.text();
  throw new Error('a stored property has a name');
}
