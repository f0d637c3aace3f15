// Reads replies by the field numbers of google/datastore/v1/{datastore,entity,query}.proto. All
// functions throw an Error for other bytes. Results share the reply's memory.
import type { EntityResult, Key, LookupResponse, MutationResult, QueryBatch, StoredEntity, Value } from './messages.ts';

/** By number. */
const MORE_RESULTS = [
  'MORE_RESULTS_TYPE_UNSPECIFIED',
  'NOT_FINISHED',
  'MORE_RESULTS_AFTER_LIMIT',
  'NO_MORE_RESULTS',
  'MORE_RESULTS_AFTER_CURSOR',
];

const NO_KEY: Key = { path: [] };
const EMPTY = new Uint8Array();

/** Neither list has the keys that the service deferred or did not mention. */
export function readLookupResponse(bytes: Buffer): LookupResponse {
  const found: EntityResult[] = [];
  const missing: Key[] = [];
  for (const reader = new MessageReader(bytes); reader.next();) {
    if (reader.field === 1) found.push(readEntityResult(reader.message()));
    else if (reader.field === 2) missing.push(readEntityResult(reader.message()).entity?.key ?? NO_KEY);
  }
  return { found, missing };
}

export function readCommitResponse(bytes: Buffer): MutationResult[] {
  const results: MutationResult[] = [];
  for (const reader = new MessageReader(bytes); reader.next();) {
    if (reader.field === 3) results.push(readMutationResult(reader.message()));
  }
  return results;
}

export function readRunQueryResponse(bytes: Buffer): QueryBatch {
  let batch: QueryBatch = { keys: [], endCursor: EMPTY, moreResults: undefined };
  for (const reader = new MessageReader(bytes); reader.next();) {
    if (reader.field === 1) batch = readBatch(reader.message());
  }
  return batch;
}

function readBatch(reader: MessageReader): QueryBatch {
  const keys: Key[] = [];
  let endCursor: Uint8Array = EMPTY;
  let moreResults = MORE_RESULTS[0];
  while (reader.next()) {
    if (reader.field === 2) keys.push(readEntityResult(reader.message()).entity?.key ?? NO_KEY);
    else if (reader.field === 4) endCursor = reader.bytes();
    else if (reader.field === 5) moreResults = MORE_RESULTS[reader.number()];
  }
  return { keys, endCursor, moreResults };
}

function readMutationResult(reader: MessageReader): MutationResult {
  let version: string | undefined;
  let conflictDetected = false;
  while (reader.next()) {
    if (reader.field === 4) version = reader.int64();
    else if (reader.field === 5) conflictDetected = reader.number() !== 0;
  }
  return { version, conflictDetected };
}

function readEntityResult(reader: MessageReader): EntityResult {
  let entity: StoredEntity | undefined;
  let version: string | undefined;
  while (reader.next()) {
    if (reader.field === 1) entity = readEntity(reader.message());
    else if (reader.field === 4) version = reader.int64();
  }
  return { entity, version };
}

function readEntity(reader: MessageReader): StoredEntity {
  let key = NO_KEY;
  const properties: Record<string, Value> = {};
  while (reader.next()) {
    if (reader.field === 1) key = readKey(reader.message());
    else if (reader.field === 3) readProperty(reader.message(), properties);
  }
  return { key, properties };
}

/** An entry of a map is a message of its key and its value. */
function readProperty(reader: MessageReader, properties: Record<string, Value>): void {
  let name = '';
  let value: Value = {};
  while (reader.next()) {
    if (reader.field === 1) name = reader.text();
    else if (reader.field === 2) value = readValue(reader.message());
  }
  properties[name] = value;
}

function readValue(reader: MessageReader): Value {
  let value: Value = {};
  while (reader.next()) {
    if (reader.field === 18) value = { blobValue: reader.bytes() };
    else if (reader.field === 17) value = { stringValue: reader.text() };
  }
  return value;
}

/** Leaves out the partition, which is the one that was asked. */
function readKey(reader: MessageReader): Key {
  const path: Key['path'][number][] = [];
  while (reader.next()) {
    if (reader.field === 2) path.push(readPathElement(reader.message()));
  }
  return { path };
}

function readPathElement(reader: MessageReader): Key['path'][number] {
  let kind = '';
  let name = '';
  while (reader.next()) {
    if (reader.field === 1) kind = reader.text();
    else if (reader.field === 3) name = reader.text();
  }
  return { kind, name };
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

const VARINT_BYTES_MAX = 10;

/**
 * Walks over a message's fields (https://protobuf.dev/programming-guides/encoding). `next()` moves
 * to a field, which the other methods read. Throws an Error for wrong bytes.
 */
class MessageReader {
  /** The field's number. */
  field = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #type = 0;
  /** The field's content begins here and ends at `#at`. */
  #start: number;
  #at: number;
  /** The content of a varint field, exact up to 2^53. */
  #value = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#start = start;
    this.#at = start;
    this.#end = end;
  }

  /** False at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#type = tag % 8;
    if (this.field === 0) throw malformed();
    const sizeBytes = this.#type === LENGTH ? this.#varint() : sizeOf(this.#type);
    this.#start = this.#at;
    if (this.#type === VARINT) this.#value = this.#varint();
    else this.#at += sizeBytes;
    if (this.#at > this.#end) throw malformed();
    return true;
  }

  message(): MessageReader {
    this.#expect(LENGTH);
    return new MessageReader(this.#bytes, this.#start, this.#at);
  }

  text(): string {
    this.#expect(LENGTH);
    return this.#bytes.toString('utf8', this.#start, this.#at);
  }

  /** Shares memory with the message. */
  bytes(): Uint8Array {
    this.#expect(LENGTH);
    return this.#bytes.subarray(this.#start, this.#at);
  }

  /** An enum or a flag. */
  number(): number {
    this.#expect(VARINT);
    return this.#value;
  }

  /** A signed 64-bit number in decimal. */
  int64(): string {
    this.#expect(VARINT);
    return Number.isSafeInteger(this.#value) ? String(this.#value) : this.#bigInt64();
  }

  #bigInt64(): string {
    let value = 0n;
    for (let at = this.#start, shift = 0n; at < this.#at; at += 1, shift += 7n)
      value |= BigInt(this.#bytes[at]! % 0x80) << shift;
    return String(BigInt.asIntN(64, value));
  }

  #varint(): number {
    let value = 0;
    for (let count = 0, scale = 1; count < VARINT_BYTES_MAX && this.#at < this.#end; count += 1, scale *= 0x80) {
      const byte = this.#bytes[this.#at]!;
      this.#at += 1;
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
    throw malformed();
  }

  #expect(type: number): void {
    if (this.#type !== type) throw malformed();
  }
}

function sizeOf(type: number): number {
  if (type === VARINT) return 0;
  if (type === FIXED64) return 8;
  if (type === FIXED32) return 4;
  throw malformed();
}

function malformed(): Error {
  return new Error('the reply is no message of the Datastore API');
}
