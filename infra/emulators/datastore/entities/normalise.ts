// Rewrites values as the service stores them: keys get their project, timestamps are cut to
// microseconds. Done only where the check of the values asks for it.
import { bytesField, varint, WireReader } from '../wire/wire.ts';
import { type Database, parseKey } from './keys.ts';
import { FIELD, type Properties } from './values.ts';

/** Rewrites the content of a length-delimited field. */
type Rewrite = (content: Buffer) => Buffer;

export function normaliseProperties(properties: Properties, database: Database): Properties {
  const entry = propertyRewriter(database);
  return new Map([...properties].map(([name, bytes]) => [name, rewritten(bytes, new Map([[3, entry]]))]));
}

function propertyRewriter(database: Database): Rewrite {
  const value: Rewrite = (content) => rewritten(content, inValue);
  const key: Rewrite = (content) => parseKey(content, database, { ...ANY_KEY }).encoded;
  // An embedded entity may have an empty key, which stays as it is.
  const optionalKey: Rewrite = (content) => (content.length > 0 ? key(content) : content);
  const property: Rewrite = (content) => rewritten(content, new Map([[2, value]]));
  const inEntity = new Map<number, Rewrite>([
    [1, optionalKey],
    [3, property],
  ]);
  const inValue = new Map<number, Rewrite>([
    [FIELD.key, key],
    [FIELD.timestamp, truncated],
    [FIELD.array, (content) => rewritten(content, new Map([[1, value]]))],
    [FIELD.entity, (content) => rewritten(content, inEntity)],
  ]);
  return property;
}

const ANY_KEY = { reserved: 'allowed', foreign: 'allowed', completeness: 'either' } as const;

function rewritten(message: Buffer, rewrites: ReadonlyMap<number, Rewrite>): Buffer {
  const parts: Buffer[] = [];
  const reader = new WireReader(message);
  while (reader.next()) {
    const rewrite = rewrites.get(reader.field);
    if (rewrite === undefined) parts.push(message.subarray(reader.tagStart, reader.end));
    else parts.push(...bytesField(reader.field, rewrite(reader.slice())));
  }
  return Buffer.concat(parts);
}

function truncated(timestamp: Buffer): Buffer {
  const parts: Buffer[] = [];
  const reader = new WireReader(timestamp);
  while (reader.next()) {
    if (reader.field !== 2) parts.push(timestamp.subarray(reader.tagStart, reader.end));
    else parts.push(varint(2 * 8), varint(reader.int64() - (reader.int64() % 1_000n)));
  }
  return Buffer.concat(parts);
}
