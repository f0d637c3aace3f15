// Writes requests in their gRPC frames, with the field numbers of
// google/datastore/v1/{datastore,entity,query}.proto. A message is written from its end to its
// beginning: its length stands before it, so each byte is written only once.
import type {
  CommitRequest,
  Key,
  KeysQuery,
  LookupRequest,
  Mutation,
  PartitionId,
  RunQueryRequest,
  StoredEntity,
  Value,
} from './messages.ts';

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

export function framedLookup({ projectId, databaseId, keys, propertyMask }: LookupRequest): Buffer {
  const maskCount = propertyMask?.length ?? 0;
  const bytes = MESSAGE_BYTES + keys.length * KEY_BYTES + maskCount * PROPERTY_BYTES;
  const writer = new MessageWriter(Buffer.allocUnsafe(bytes));
  writer.text(9, databaseId);
  writer.text(8, projectId);
  if (propertyMask !== undefined) writeMask(writer, 5, propertyMask);
  for (let index = keys.length - 1; index >= 0; index -= 1) writeKey(writer, 3, keys[index]!);
  return writer.framed();
}

/** The memory that `framedCommit` needs, or somewhat more. */
export function commitBytes({ mutations }: CommitRequest): number {
  return mutations.reduce((sum, mutation) => sum + bytesOf(mutation), MESSAGE_BYTES);
}

/** A commit outside of transactions, written into `memory` unless it needs more. */
export function framedCommit(
  request: CommitRequest,
  memory: Buffer = Buffer.allocUnsafe(commitBytes(request)),
): Buffer {
  const { projectId, databaseId, mutations } = request;
  const writer = new MessageWriter(memory);
  writer.text(9, databaseId);
  writer.text(8, projectId);
  for (let index = mutations.length - 1; index >= 0; index -= 1) writeMutation(writer, 6, mutations[index]!);
  writer.number(5, NON_TRANSACTIONAL);
  return writer.framed();
}

export function framedRunQuery({ partitionId, query }: RunQueryRequest): Buffer {
  const writer = new MessageWriter(Buffer.allocUnsafe(MESSAGE_BYTES + 2 * KEY_BYTES));
  writer.text(9, partitionId.databaseId);
  writer.text(8, partitionId.projectId);
  within(writer, 3, () => writeQuery(writer, query));
  writePartition(writer, 2, partitionId);
  return writer.framed();
}

function bytesOf({ insert, update }: Mutation): number {
  const properties = (insert ?? update)?.properties;
  let sum = 2 * KEY_BYTES;
  for (const name in properties) sum += PROPERTY_BYTES + name.length + (properties[name]!.blobValue?.length ?? 0);
  return sum;
}

function writeMutation(writer: MessageWriter, field: number, mutation: Mutation): void {
  const end = writer.written;
  if (mutation.conflictResolutionStrategy === 'FAIL') writer.number(10, FAIL);
  if (mutation.propertyMask !== undefined) writeMask(writer, 9, mutation.propertyMask);
  if (mutation.baseVersion !== undefined) writer.int64(8, mutation.baseVersion);
  if (mutation.delete !== undefined) writeKey(writer, 7, mutation.delete);
  if (mutation.update !== undefined) writeEntity(writer, 5, mutation.update);
  if (mutation.insert !== undefined) writeEntity(writer, 4, mutation.insert);
  writer.message(field, end);
}

function writeEntity(writer: MessageWriter, field: number, { key, properties }: StoredEntity): void {
  const end = writer.written;
  for (const name in properties) writeProperty(writer, 3, name, properties[name]!);
  writeKey(writer, 1, key);
  writer.message(field, end);
}

/** An entry of a map is a message of its key and its value. */
function writeProperty(writer: MessageWriter, field: number, name: string, value: Value): void {
  const end = writer.written;
  writeValue(writer, 2, value);
  writer.text(1, name);
  writer.message(field, end);
}

/** The type of a value is told even if the value is empty. */
function writeValue(writer: MessageWriter, field: number, value: Value): void {
  const end = writer.written;
  if (value.excludeFromIndexes === true) writer.number(19, 1);
  if (value.blobValue !== undefined) writer.bytes(18, value.blobValue);
  if (value.stringValue !== undefined) writer.textAlways(17, value.stringValue);
  if (value.keyValue !== undefined) writeKey(writer, 5, value.keyValue);
  writer.message(field, end);
}

function writeKey(writer: MessageWriter, field: number, { partitionId, path }: Key): void {
  const end = writer.written;
  for (let index = path.length - 1; index >= 0; index -= 1) writePathElement(writer, 2, path[index]!);
  if (partitionId !== undefined) writePartition(writer, 1, partitionId);
  writer.message(field, end);
}

function writePathElement(writer: MessageWriter, field: number, { kind, name }: Key['path'][number]): void {
  const end = writer.written;
  writer.textAlways(3, name);
  writer.text(1, kind);
  writer.message(field, end);
}

function writePartition(
  writer: MessageWriter,
  field: number,
  { projectId, databaseId, namespaceId }: PartitionId,
): void {
  const end = writer.written;
  writer.text(4, namespaceId);
  writer.text(3, databaseId);
  writer.text(2, projectId);
  writer.message(field, end);
}

function writeMask(writer: MessageWriter, field: number, paths: readonly string[]): void {
  const end = writer.written;
  for (let index = paths.length - 1; index >= 0; index -= 1) writer.textAlways(1, paths[index]!);
  writer.message(field, end);
}

/** Query, by keys and for keys alone. */
function writeQuery(writer: MessageWriter, { kind, range, startCursor, limit }: KeysQuery): void {
  within(writer, 12, () => writer.number(1, limit));
  if (startCursor !== undefined) writer.bytes(7, startCursor);
  within(writer, 5, () => {
    writer.number(2, ASCENDING);
    writeKeyReference(writer, 1);
  });
  if (range !== undefined) within(writer, 4, () => within(writer, 1, () => writeBounds(writer, range)));
  within(writer, 3, () => writer.text(1, kind));
  within(writer, 2, () => writeKeyReference(writer, 1));
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
      writeValue(writer, 3, { keyValue });
      writer.number(2, op);
      writeKeyReference(writer, 1);
    }),
  );
}

function writeKeyReference(writer: MessageWriter, field: number): void {
  within(writer, field, () => writer.text(2, '__key__'));
}

/** A message of the fields that `write` writes. Only queries, which are rare, take the closure. */
function within(writer: MessageWriter, field: number, write: () => void): void {
  const end = writer.written;
  write();
  writer.message(field, end);
}

/** Wire types. */
const VARINT = 0;
const LENGTH = 2;

/** gRPC's prefix: a byte that says whether the message is compressed, and its length in four. */
const FRAME_PREFIX_BYTES = 5;
const VARINT_BYTES_MAX = 10;
/** For longer text Node's own encoder is faster, although it takes longer to begin. */
const SHORT_CHARS = 64;

/** Fields are written in reverse: the last one of the message first. */
class MessageWriter {
  #buffer: Buffer;
  /** Everything from here on is written. */
  #at: number;

  /** Writes into `memory`, whatever is in it. A message that takes more costs a copy. */
  constructor(memory: Buffer) {
    this.#buffer = memory;
    this.#at = memory.length;
  }

  /** The bytes written so far, which tell where an embedded message ends. */
  get written(): number {
    return this.#buffer.length - this.#at;
  }

  /** Makes all bytes that were written since `end` the embedded message of this field. */
  message(field: number, end: number): void {
    this.#head(field, LENGTH, this.written - end);
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
    this.message(field, end);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#buffer.set(value, this.#at);
    this.#head(field, LENGTH, value.length);
  }

  /** A small number that is not negative: an enum, a flag or a count. */
  number(field: number, value: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(value);
    this.#tag(field, VARINT);
  }

  /** A signed 64-bit number in decimal. */
  int64(field: number, value: string): void {
    this.#reserve(VARINT_BYTES_MAX);
    const number = Number(value);
    if (number >= 0 && Number.isSafeInteger(number)) this.#varint(number);
    else this.#bigVarint(BigInt.asUintN(64, BigInt(value)));
    this.#tag(field, VARINT);
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

  #head(field: number, type: number, sizeBytes: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(sizeBytes);
    this.#tag(field, type);
  }

  #tag(field: number, type: number): void {
    this.#reserve(VARINT_BYTES_MAX);
    this.#varint(field * 8 + type);
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
