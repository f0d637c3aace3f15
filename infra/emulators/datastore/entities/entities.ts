// Entities: checked as they come in, kept encoded, taken apart only for a patch, a mask or a query.
import { ENTITY_BYTES_MAX, ENTITY_OVERHEAD_BYTES } from '../wire/limits.ts';
import { decoder, encoder, type Entity } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/status.ts';
import { type Database, type KeyRef, parseKey } from './keys.ts';
import { type Mask, masked } from './mask.ts';
import { checkProperty, type Properties } from './values.ts';

export interface CheckedEntity {
  readonly key: KeyRef;
  readonly properties: Properties;
  /** Bytes by the service's formula. */
  readonly sizeBytes: number;
}

const decode = decoder('Entity');
const encode = encoder('Entity');

/** Checks all but the size, which a patch may change. Throws INVALID_ARGUMENT naming the field. */
export function parseEntity(bytes: Buffer, database: Database): CheckedEntity {
  const entity = decode(bytes);
  const properties = byName(entity);
  const sizeBytes = propertiesBytes(properties);
  if (entity.key.length === 0) throw invalid('key', 'must be set');
  return { key: inside('key', () => parseKey(entity.key, database)), properties, sizeBytes };
}

/** Encodes the stored form, which shares no memory with the request. `key` is encoded. */
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

/** True if both hold the same properties, in whichever order: a write of these changes nothing. */
export function sameProperties(one: Properties, other: Properties): boolean {
  return (
    one.size === other.size && [...one].every(([name, { value }]) => other.get(name)?.value.equals(value) === true)
  );
}

/** Bytes of properties by the service's formula. Throws naming the one at fault. */
export function propertiesBytes(properties: Properties): number {
  return [...properties.values()].reduce((sum, property) => sum + checkProperty(property), 0);
}

/** Throws INVALID_ARGUMENT if key and properties together are larger than an entity may be. */
export function checkEntityBytes(key: KeyRef, propertiesBytes: number): void {
  const sizeBytes = ENTITY_OVERHEAD_BYTES + key.sizeBytes + propertiesBytes;
  if (sizeBytes > ENTITY_BYTES_MAX)
    throw invalid('', `the entity has ${sizeBytes} bytes; it must not be larger than ${ENTITY_BYTES_MAX} bytes`);
}
