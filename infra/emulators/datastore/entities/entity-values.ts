// Checks one property, counts its bytes as the service does, and gives the form that is stored.
import { isUtf8 } from 'node:buffer';
import {
  ENTITY_OVERHEAD_BYTES,
  GEO_POINT_BYTES,
  INDEXED_BYTES_MAX,
  NESTED_ENTITIES_MAX,
  NUMBER_BYTES,
  PROPERTY_BYTES_MAX,
  STRING_OVERHEAD_BYTES,
} from '../wire/service-limits.ts';
import { decoder, encoder, type Property, type Value } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/rpc-status.ts';
import { type Database, isReserved, parseKey } from './entity-keys.ts';

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

const decode = decoder('Value');
const encode = encoder('Value');
const decodeEntity = decoder('Entity');
const encodeEntity = encoder('Entity');
const decodeArray = decoder('ArrayValue');
const encodeArray = encoder('ArrayValue');
const decodeTimestamp = decoder('google.protobuf.Timestamp');
const encodeTimestamp = encoder('google.protobuf.Timestamp');
const decodePoint = decoder('google.type.LatLng');

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
  const value = decode(bytes);
  const { valueType: type, meaning, excludeFromIndexes } = value;
  if (meaning !== 0) throw unsupported('meaning');
  if (type === undefined) throw invalid('', 'has no value set');
  const { part, sizeBytes } = CHECKS[type]!(value, place);
  if (part === undefined) return { part: bytes, sizeBytes };
  return { part: encode({ [type]: part, ...(excludeFromIndexes && { excludeFromIndexes }) }), sizeBytes };
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
      if (decode(value).valueType === 'arrayValue') throw invalid('', 'must not be an array');
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
    part: encodeEntity({ ...(key && { key: key.encoded }), properties: checked.map(({ part }) => part) }),
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
