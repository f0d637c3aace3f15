// Writes requests in their gRPC frames, with the field numbers of
// google/datastore/v1/{datastore,entity,query}.proto. A message is written from its end to its
// beginning: its length stands before it, so each byte is written only once. Fields and lists are
// therefore written in reverse.
import type { Database, Key, KeysQuery, Mutation, PartitionId, StoredEntity, Value } from './messages.ts';

const NON_TRANSACTIONAL = 2;
const FAIL = 3;
const ASCENDING = 1;
const AND = 1;
const LESS_THAN = 1;
const GREATER_THAN_OR_EQUAL = 4;

/** Estimates for a message without keys, a key and a property, so that buffers rarely grow. */
const MESSAGE_BYTES = 256;
const KEY_BYTES = 160;
const PROPERTY_BYTES = 32;

/** `mask`: the properties that the reply is to have. Default: all. */
export function framedLookup(database: Database, keys: readonly Key[], mask: readonly string[] | undefined): Buffer {
  const bytes = MESSAGE_BYTES + keys.length * KEY_BYTES + (mask?.length ?? 0) * PROPERTY_BYTES;
  const writer = new MessageWriter(Buffer.allocUnsafe(bytes));
  writer.text(9, database.databaseId);
  writer.text(8, database.projectId);
  if (mask !== undefined) writer.message(5, writeMask, mask);
  writer.messages(3, writeKey, keys);
  return writer.framed();
}

/** The memory that `framedCommit` needs, or somewhat more. */
export function commitBytes(mutations: readonly Mutation[]): number {
  return mutations.reduce((sum, mutation) => sum + bytesOf(mutation), MESSAGE_BYTES);
}

/** A commit outside of transactions, written into `memory` unless it needs more. */
export function framedCommit(database: Database, mutations: readonly Mutation[], memory: Buffer): Buffer {
  const writer = new MessageWriter(memory);
  writer.text(9, database.databaseId);
  writer.text(8, database.projectId);
  writer.messages(6, writeMutation, mutations);
  writer.number(5, NON_TRANSACTIONAL);
  return writer.framed();
}

export function framedRunQuery(partition: PartitionId, query: KeysQuery): Buffer {
  const writer = new MessageWriter(Buffer.allocUnsafe(MESSAGE_BYTES + 2 * KEY_BYTES));
  writer.text(9, partition.databaseId);
  writer.text(8, partition.projectId);
  writer.message(3, writeQuery, query);
  writer.message(2, writePartition, partition);
  return writer.framed();
}

function bytesOf({ insert, update }: Mutation): number {
  const properties = (insert ?? update)?.properties;
  let sum = 2 * KEY_BYTES;
  for (const name in properties) sum += PROPERTY_BYTES + name.length + (properties[name]!.blobValue?.length ?? 0);
  return sum;
}

function writeMutation(writer: MessageWriter, mutation: Mutation): void {
  if (mutation.conflictResolutionStrategy === 'FAIL') writer.number(10, FAIL);
  if (mutation.propertyMask !== undefined) writer.message(9, writeMask, mutation.propertyMask);
  if (mutation.baseVersion !== undefined) writer.int64(8, mutation.baseVersion);
  if (mutation.delete !== undefined) writer.message(7, writeKey, mutation.delete);
  if (mutation.update !== undefined) writer.message(5, writeEntity, mutation.update);
  if (mutation.insert !== undefined) writer.message(4, writeEntity, mutation.insert);
}

/** An entry of a map is a message of its key and its value. */
function writeEntity(writer: MessageWriter, { key, properties }: StoredEntity): void {
  for (const name in properties) {
    const end = writer.written;
    writer.message(2, writeValue, properties[name]!);
    writer.text(1, name);
    writer.head(3, end);
  }
  writer.message(1, writeKey, key);
}

/** The type of a value is told even if the value is empty. */
function writeValue(writer: MessageWriter, value: Value): void {
  if (value.excludeFromIndexes === true) writer.number(19, 1);
  if (value.blobValue !== undefined) writer.bytes(18, value.blobValue);
  if (value.stringValue !== undefined) writer.textAlways(17, value.stringValue);
  if (value.keyValue !== undefined) writer.message(5, writeKey, value.keyValue);
}

function writeKey(writer: MessageWriter, { partitionId, path }: Key): void {
  writer.messages(2, writePathElement, path);
  if (partitionId !== undefined) writer.message(1, writePartition, partitionId);
}

function writePathElement(writer: MessageWriter, { kind, name }: Key['path'][number]): void {
  writer.textAlways(3, name);
  writer.text(1, kind);
}

function writePartition(writer: MessageWriter, { projectId, databaseId, namespaceId }: PartitionId): void {
  writer.text(4, namespaceId);
  writer.text(3, databaseId);
  writer.text(2, projectId);
}

function writeMask(writer: MessageWriter, paths: readonly string[]): void {
  for (let index = paths.length - 1; index >= 0; index -= 1) writer.textAlways(1, paths[index]!);
}

/** Query, by keys and for keys alone. */
function writeQuery(writer: MessageWriter, { kind, range, startCursor, limit }: KeysQuery): void {
  within(writer, 12, () => writer.number(1, limit));
  if (startCursor !== undefined) writer.bytes(7, startCursor);
  within(writer, 5, () => {
    writer.number(2, ASCENDING);
    writeKeyReference(writer);
  });
  if (range !== undefined) within(writer, 4, () => within(writer, 1, () => writeBounds(writer, range)));
  within(writer, 3, () => writer.text(1, kind));
  within(writer, 2, () => writeKeyReference(writer));
}

/** CompositeFilter */
function writeBounds(writer: MessageWriter, [from, before]: readonly [Key, Key]): void {
  writeBound(writer, LESS_THAN, before);
  writeBound(writer, GREATER_THAN_OR_EQUAL, from);
  writer.number(1, AND);
}

/** Filter with a PropertyFilter. */
function writeBound(writer: MessageWriter, op: number, keyValue: Key): void {
  within(writer, 2, () =>
    within(writer, 2, () => {
      writer.message(3, writeValue, { keyValue });
      writer.number(2, op);
      writeKeyReference(writer);
    }),
  );
}

function writeKeyReference(writer: MessageWriter): void {
  within(writer, 1, () => writer.text(2, '__key__'));
}

/** A message of the fields that `write` writes. Only queries, which are rare, take the closure. */
function within(writer: MessageWriter, field: number, write: () => void): void {
  writer.message(field, write, undefined);
}

/** Wire types. */
const VARINT = 0;
const LENGTH = 2;

/** gRPC's prefix: a byte that says whether the message is compressed, and its length in four. */
const FRAME_PREFIX_BYTES = 5;
const VARINT_BYTES_MAX = 10;
/** For longer text Node's own encoder is faster, although it takes longer to begin. */
const SHORT_CHARS = 64;

class MessageWriter {
  #buffer: Buffer;
  /** Everything from here on is written. */
  #at: number;

  /** Writes into `memory`, whatever is in it. A message that takes more costs a copy. */
  constructor(memory: Buffer) {
    this.#buffer = memory;
    this.#at = memory.length;
  }

  /** The bytes written so far, which tell where a text or message ends. */
  get written(): number {
    return this.#buffer.length - this.#at;
  }

  /** Makes all bytes that were written since `end` the text or message of this field. */
  head(field: number, end: number): void {
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(this.written - end);
    this.#varint(field * 8 + LENGTH);
  }

  /** An embedded message, whose fields `write` writes. */
  message<T>(field: number, write: (writer: this, value: T) => void, value: T): void {
    const end = this.written;
    write(this, value);
    this.head(field, end);
  }

  /** A message for each value. */
  messages<T>(field: number, write: (writer: this, value: T) => void, values: readonly T[]): void {
    for (let index = values.length - 1; index >= 0; index -= 1) this.message(field, write, values[index]!);
  }

  /** Text. An empty one is left out, which means the same. */
  text(field: number, value: string): void {
    if (value !== '') this.textAlways(field, value);
  }

  /** Text of a field whose presence counts. */
  textAlways(field: number, value: string): void {
    const end = this.written;
    if (!this.#ascii(value)) {
      const sizeBytes = Buffer.byteLength(value);
      this.#reserve(sizeBytes);
      this.#at -= sizeBytes;
      this.#buffer.write(value, this.#at);
    }
    this.head(field, end);
  }

  bytes(field: number, value: Uint8Array): void {
    const end = this.written;
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.head(field, end);
  }

  /** A small number that is not negative: an enum, a flag or a count. */
  number(field: number, value: number): void {
    this.#reserve(2 * VARINT_BYTES_MAX);
    this.#varint(value);
    this.#varint(field * 8 + VARINT);
  }

  /** A signed 64-bit number in decimal. */
  int64(field: number, value: string): void {
    this.#reserve(2 * VARINT_BYTES_MAX);
    const number = Number(value);
    if (number >= 0 && Number.isSafeInteger(number)) this.#varint(number);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#varint(field * 8 + VARINT);
  }

  /** The message in its gRPC frame, not compressed. */
  framed(): Buffer {
    const sizeBytes = this.written;
    this.#reserve(FRAME_PREFIX_BYTES);
    this.#at -= FRAME_PREFIX_BYTES;
    this.#buffer[this.#at] = 0;
    this.#buffer.writeUInt32BE(sizeBytes, this.#at + 1);
    return this.#buffer.subarray(this.#at);
  }

  /** Writes short text of ASCII. Other text is left to the caller: false. */
  #ascii(value: string): boolean {
    if (value.length > SHORT_CHARS) return false;
    this.#reserve(value.length);
    const start = this.#at - value.length;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      this.#buffer[start + index] = code;
    }
    this.#at = start;
    return true;
  }

  #varint(value: number): void {
    let sizeBytes = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) sizeBytes += 1;
    this.#at -= sizeBytes;
    const last = this.#at + sizeBytes - 1;
    let rest = value;
    for (let at = this.#at; at < last; at += 1) {
      this.#buffer[at] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[last] = rest;
  }

  #bigVarint(value: bigint): void {
    const bytes: number[] = [];
    let rest = value;
    for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
    this.#at -= bytes.length;
    this.#buffer.set(bytes, this.#at);
  }

  /** Makes room before what is written. */
  #reserve(sizeBytes: number): void {
    if (this.#at >= sizeBytes) return;
    const grown = Buffer.allocUnsafe(2 * this.#buffer.length + sizeBytes);
    const at = grown.length - this.written;
    grown.set(this.#buffer.subarray(this.#at), at);
    this.#buffer = grown;
    this.#at = at;
  }
}
