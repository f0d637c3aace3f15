// An index's order: null, integers and timestamps, booleans, bytes, doubles, points, keys.
import { inside } from '../wire/status.ts';
import { BYTES, bytesField, WireReader } from '../wire/wire.ts';
import { type Database, keyName, parseKey } from './keys.ts';
import { FIELD } from './values.ts';

/** A value in an index. */
export interface IndexValue {
  /** The order of the value's type among the types. */
  readonly rank: number;
  /** Comparable with the content of the same rank. Strings have a character a byte. */
  readonly content: bigint | number | string | readonly [number, number];
  /** The encoded `Value` it came from. */
  readonly encoded: Buffer;
}

export const RANK_KEY = 6;
const RANK = { null: 0, integer: 1, boolean: 2, bytes: 3, double: 4, geoPoint: 5, key: RANK_KEY } as const;

export function compareValues(one: IndexValue, other: IndexValue): number {
  if (one.rank !== other.rank) return one.rank - other.rank;
  if (one.rank === RANK.double) return compareDoubles(one.content as number, other.content as number);
  if (one.rank === RANK.geoPoint) return comparePoints(one.content as Point, other.content as Point);
  return one.content < other.content ? -1 : one.content > other.content ? 1 : 0;
}

type Point = readonly [number, number];

/** The values that stand in indexes: an array's elements; none of a value excluded from indexes. */
export function indexValues(encoded: Buffer, database: Database): IndexValue[] {
  const reader = new WireReader(encoded);
  let values: IndexValue[] = [];
  let excluded = false;
  while (reader.next()) {
    if (reader.field === FIELD.excludeFromIndexes) excluded = reader.flag();
    else if (reader.field === FIELD.array)
      values = elementsOf(reader.message()).flatMap((each) => indexValues(each, database));
    else if (reader.field !== FIELD.meaning) values = contentOf(reader, database, encoded);
  }
  return excluded ? [] : values;
}

function elementsOf(array: WireReader): Buffer[] {
  const elements: Buffer[] = [];
  while (array.next()) if (array.field === 1) elements.push(array.slice());
  return elements;
}

function contentOf(reader: WireReader, database: Database, encoded: Buffer): IndexValue[] {
  const value = (rank: number, content: IndexValue['content']): IndexValue[] => [{ rank, content, encoded }];
  switch (reader.field) {
    case FIELD.null:
      return value(RANK.null, 0);
    case FIELD.boolean:
      return value(RANK.boolean, reader.flag() ? 1 : 0);
    case FIELD.integer:
      return value(RANK.integer, reader.int64());
    case FIELD.timestamp:
      return value(RANK.integer, microseconds(reader.message()));
    case FIELD.double:
      return value(RANK.double, reader.double());
    case FIELD.string:
    case FIELD.blob:
      return value(RANK.bytes, reader.slice().toString('latin1'));
    case FIELD.geoPoint:
      return value(RANK.geoPoint, pointOf(reader.message()));
    case FIELD.key: {
      const key = inside('key_value', () =>
        parseKey(reader.slice(), database, { reserved: 'allowed', foreign: 'allowed' }),
      );
      return value(RANK.key, keyName(key));
    }
    default:
      return [];
  }
}

function microseconds(timestamp: WireReader): bigint {
  let total = 0n;
  while (timestamp.next()) {
    if (timestamp.field === 1) total += timestamp.int64() * 1_000_000n;
    else if (timestamp.field === 2) total += timestamp.int64() / 1_000n;
  }
  return total;
}

function pointOf(point: WireReader): Point {
  let latitude = 0;
  let longitude = 0;
  while (point.next()) {
    if (point.field === 1) latitude = point.double();
    else if (point.field === 2) longitude = point.double();
  }
  return [latitude, longitude];
}

/** Orders doubles: NaN comes after all others and equals itself. */
function compareDoubles(one: number, other: number): number {
  if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : 1;
  if (Number.isNaN(other)) return -1;
  return one < other ? -1 : one > other ? 1 : 0;
}

function comparePoints(one: Point, other: Point): number {
  return one[0] - other[0] || one[1] - other[1];
}

/** An encoded `Value` that is a key. */
export function keyValue(key: Buffer): Buffer {
  return Buffer.concat(bytesField(FIELD.key, key));
}

/** The encoded key inside an encoded `Value`, if it is one. */
export function keyInside(value: Buffer): Buffer | undefined {
  const reader = new WireReader(value);
  while (reader.next()) if (reader.field === FIELD.key && reader.type === BYTES) return reader.slice();
  return undefined;
}
