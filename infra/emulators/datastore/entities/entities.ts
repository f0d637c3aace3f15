// Entities are checked when they arrive and kept encoded. Only a patch, a mask or a comparison
// decodes them again.
import { ENTITY_BYTES_MAX, ENTITY_OVERHEAD_BYTES } from '../wire/service-limits.ts';
import { decoder, encoder, type Entity, type PropertyMask } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/rpc-status.ts';
import { checkPath, type Database, KEY, type KeyRef } from './entity-keys.ts';
import { checkedProperty, type Properties } from './entity-values.ts';

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

const decode = decoder('Entity');
const encode = encoder('Entity');

/** Checks the properties, but not the size. Throws INVALID_ARGUMENT that names the field. */
export function parseEntity(bytes: Buffer, database: Database): CheckedEntity {
  const entity = decode(bytes);
  const checked = checkedProperties(byName(entity), database);
  if (entity.key.length === 0) throw invalid('key', 'must be set');
  return { key: entity.key, ...checked };
}

/** Encodes the stored form, which shares no memory with the request. `key` is already encoded. */
export function encodeEntity(key: Buffer, properties: Properties = new Map()): Buffer {
  return encode({ key, properties: [...properties.values()] });
}

/** The properties of a stored entity; they share its memory. */
export function propertiesOf(entity: Buffer): Properties {
  return byName(decode(entity));
}

function byName({ properties }: Entity): Properties {
  return new Map(properties.map((property) => [property.name.toString(), property]));
}

/** A stored entity as a mask shows it. */
export function shown(entity: Buffer, mask: Mask | undefined): Buffer {
  return mask === undefined ? entity : encodeEntity(decode(entity).key, masked(propertiesOf(entity), mask));
}

/** Whether both have the same properties, in any order: then a write changes nothing. */
export function sameProperties(one: Properties, other: Properties): boolean {
  return (
    one.size === other.size && [...one].every(([name, { value }]) => other.get(name)?.value.equals(value) === true)
  );
}

/** Throws an error that names the wrong property. */
export function checkedProperties(properties: Properties, database: Database): CheckedProperties {
  const checked = [...properties].map(
    ([name, property]) => [name, checkedProperty(property, { database, depth: 0 })] as const,
  );
  return {
    properties: new Map(checked.map(([name, { part }]) => [name, part])),
    sizeBytes: checked.reduce((sum, [, { sizeBytes }]) => sum + sizeBytes, 0),
  };
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
