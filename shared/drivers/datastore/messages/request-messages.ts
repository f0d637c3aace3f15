// Writes requests in their gRPC frames, with the field numbers of
// google/datastore/v1/{datastore,entity,query}.proto. A writer takes a message's fields in reverse.
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
import { MessageWriter } from './protobuf-writer.ts';

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
