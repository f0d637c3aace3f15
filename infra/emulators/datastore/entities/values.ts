// Checks one encoded property value and counts its bytes as the service does, mostly undecoded.
import { isUtf8 } from 'node:buffer';
import {
  ENTITY_OVERHEAD_BYTES,
  GEO_POINT_BYTES,
  INDEXED_BYTES_MAX,
  NESTING_MAX,
  NUMBER_BYTES,
  PROPERTY_BYTES_MAX,
  STRING_OVERHEAD_BYTES,
} from '../wire/limits.ts';
import { inside, invalid, within } from '../wire/status.ts';
import { BYTES, FIXED64, VARINT, WireReader } from '../wire/wire.ts';
import { type Database, isReserved, parseKey } from './keys.ts';

/** Field numbers of `Value`, as entity.proto has them. */
export const FIELD = {
  boolean: 1,
  integer: 2,
  double: 3,
  key: 5,
  entity: 6,
  geoPoint: 8,
  array: 9,
  timestamp: 10,
  null: 11,
  meaning: 14,
  string: 17,
  blob: 18,
  excludeFromIndexes: 19,
} as const;

/** Marks the result of a projection, which must not be stored. */
const MEANING_INDEX_VALUE = 18;

export interface ValueContext {
  readonly database: Database;
  readonly insideArray: boolean;
  readonly depth: number;
}

/** Encoded entries of `Entity.properties`, tag included, by name. */
export type Properties = Map<string, Buffer>;

/** The context of a property of an entity that is not embedded. */
export function outermost(database: Database): ValueContext {
  return { database, insideArray: false, depth: 0 };
}

/** Position and type of a value's content. */
interface Found {
  type: number;
  start: number;
  end: number;
  wireType: number;
  meaning: number;
  excluded: boolean;
  annotated: boolean;
}

/** Bytes by the service's formula. Throws INVALID_ARGUMENT naming the field below the value. */
export function checkValue(reader: WireReader, context: ValueContext): number {
  const found = findContent(reader);
  if (found.type === 0) throw invalid('', 'has no value set');
  if (found.meaning === MEANING_INDEX_VALUE) throw invalid('meaning', 'must not be 18, the mark of an index value');
  if (isPlainBytes(found.type) && found.end - found.start > PROPERTY_BYTES_MAX)
    throw invalid(
      '',
      `has ${found.end - found.start} bytes; a value must not be larger than ${PROPERTY_BYTES_MAX} bytes`,
    );
  return contentBytes(reader.bytes, found, context);
}

/** The content of a value; the last one counts if there are several. */
function findContent(reader: WireReader): Found {
  const found: Found = { type: 0, start: 0, end: 0, wireType: 0, meaning: 0, excluded: false, annotated: false };
  while (reader.next()) {
    if (reader.field === FIELD.meaning) found.meaning = reader.number();
    else if (reader.field === FIELD.excludeFromIndexes) found.excluded = reader.flag();
    else if (CONTENT.has(reader.field)) {
      found.type = reader.field;
      found.start = reader.start;
      found.end = reader.end;
      found.wireType = reader.type;
    }
  }
  found.annotated = found.excluded || found.meaning !== 0;
  return found;
}

const CONTENT = new Set<number>(
  Object.values(FIELD).filter((field) => field !== FIELD.meaning && field !== FIELD.excludeFromIndexes),
);

function contentBytes(bytes: Buffer, found: Found, context: ValueContext): number {
  const sizeBytes = found.end - found.start;
  // Only the value's own mark counts: values inside it keep the limits of indexed ones.
  const { excluded } = found;
  const content = () => new WireReader(bytes, found.start, found.end);
  expectWireType(found);
  switch (found.type) {
    case FIELD.string:
      if (!isUtf8(bytes.subarray(found.start, found.end))) throw invalid('string_value', 'must be valid UTF-8');
      if (!excluded) checkIndexed('string_value', sizeBytes);
      return sizeBytes + STRING_OVERHEAD_BYTES;
    case FIELD.blob:
      if (!excluded) checkIndexed('blob_value', sizeBytes);
      return sizeBytes;
    case FIELD.entity:
      if (context.depth >= NESTING_MAX) throw invalid('entity_value', `is nested deeper than ${NESTING_MAX} levels`);
      return checkEmbedded(content(), { ...context, insideArray: false, depth: context.depth + 1 });
    case FIELD.array:
      if (context.insideArray) throw invalid('array_value', 'must not contain another array value');
      if (found.annotated) throw invalid('array_value', 'must not come with meaning or exclude_from_indexes');
      return checkArray(content(), { ...context, insideArray: true });
    case FIELD.key:
      return checkKeyValue(bytes.subarray(found.start, found.end), context);
    case FIELD.geoPoint:
      return checkGeoPoint(content());
    case FIELD.timestamp:
      return checkTimestamp(content());
    case FIELD.integer:
    case FIELD.double:
      return NUMBER_BYTES;
    default:
      return 1;
  }
}

function isPlainBytes(type: number): boolean {
  return type === FIELD.string || type === FIELD.blob;
}

/** Refuses a wrong wire type here: later readers trust it unchecked. */
function expectWireType({ type, wireType }: Found): void {
  const scalar = type === FIELD.boolean || type === FIELD.integer || type === FIELD.null;
  const expected = scalar ? VARINT : type === FIELD.double ? FIXED64 : BYTES;
  if (wireType !== expected) throw invalid('', 'is not a well-formed protobuf message');
}

function checkIndexed(field: string, sizeBytes: number): void {
  if (sizeBytes > INDEXED_BYTES_MAX) {
    throw invalid(field, `has ${sizeBytes} bytes; an indexed value must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  }
}

function checkArray(reader: WireReader, context: ValueContext): number {
  let sizeBytes = 0;
  for (let place = 0; reader.next();) {
    if (reader.field !== 1) continue;
    const element = reader.message();
    sizeBytes += inside(`array_value.values[${place}]`, () => checkValue(element, context));
    place += 1;
  }
  return sizeBytes;
}

function checkEmbedded(reader: WireReader, context: ValueContext): number {
  let sizeBytes = ENTITY_OVERHEAD_BYTES;
  while (reader.next()) {
    if (reader.field === 1 && reader.sizeBytes > 0) checkEmbeddedKey(reader.slice(), context);
    if (reader.field === 3)
      sizeBytes += inside('entity_value', () => checkProperty(reader.message(), context).sizeBytes);
  }
  return sizeBytes;
}

/** Checks an embedded entity's key, which may be missing, incomplete or reserved. */
function checkEmbeddedKey(bytes: Buffer, context: ValueContext): void {
  const rules = { reserved: 'allowed', foreign: 'allowed', completeness: 'either' } as const;
  inside('entity_value.key', () => parseKey(bytes, context.database, rules));
}

export interface CheckedProperty {
  readonly name: string;
  readonly sizeBytes: number;
}

/** An entry of `Entity.properties`. */
export function checkProperty(entry: WireReader, context: ValueContext): CheckedProperty {
  let name = '';
  let nameBytes = 0;
  let value: WireReader | undefined;
  while (entry.next()) {
    if (entry.field === 1) {
      if (!isUtf8(entry.slice())) throw invalid('properties', 'a property name must be valid UTF-8');
      name = entry.text();
      nameBytes = entry.sizeBytes;
    } else if (entry.field === 2) {
      value = entry.message();
    }
  }
  if (nameBytes === 0) throw invalid('properties', 'a property name must not be empty');
  if (nameBytes > INDEXED_BYTES_MAX)
    throw invalid('properties', `a property name must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (isReserved(name)) throw invalid(`properties.${name}`, 'the name is reserved');
  try {
    if (value === undefined) throw invalid('', 'has no value set');
    return { name, sizeBytes: nameBytes + STRING_OVERHEAD_BYTES + checkValue(value, context) };
  } catch (error) {
    throw within(`properties.${name}`, error);
  }
}

function checkKeyValue(bytes: Buffer, context: ValueContext): number {
  return inside('key_value', () => parseKey(bytes, context.database, { reserved: 'allowed', foreign: 'allowed' }))
    .sizeBytes;
}

const LATITUDE_MAX = 90;
const LONGITUDE_MAX = 180;

function checkGeoPoint(reader: WireReader): number {
  while (reader.next()) {
    const max = reader.field === 1 ? LATITUDE_MAX : LONGITUDE_MAX;
    // The comparison fails for NaN too.
    if (reader.field <= 2 && !(Math.abs(reader.double()) <= max))
      throw invalid(`geo_point_value.${reader.field === 1 ? 'latitude' : 'longitude'}`, `must lie within ±${max}`);
  }
  return GEO_POINT_BYTES;
}

/** From year 1 to year 9999, as timestamp.proto has it. */
const SECONDS_MIN = -62_135_596_800n;
const SECONDS_MAX = 253_402_300_799n;

function checkTimestamp(reader: WireReader): number {
  while (reader.next()) {
    const value = reader.int64();
    if (reader.field === 1 && (value < SECONDS_MIN || value > SECONDS_MAX))
      throw invalid('timestamp_value.seconds', 'must lie between the years 1 and 9999');
    if (reader.field === 2 && (value < 0n || value > 999_999_999n))
      throw invalid('timestamp_value.nanos', 'must lie between 0 and 999,999,999');
  }
  return NUMBER_BYTES;
}
