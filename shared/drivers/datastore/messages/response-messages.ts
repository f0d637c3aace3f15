// Reads replies by the field numbers of google/datastore/v1/{datastore,entity,query}.proto. All
// functions throw an Error for other bytes. Results share the reply's memory.
import type {
  CommitResponse,
  EntityResult,
  Key,
  LookupResponse,
  MutationResult,
  QueryBatch,
  StoredEntity,
  Value,
} from './messages.ts';
import { MessageReader } from './protobuf-reader.ts';

const NOT_FINISHED = 1;
const NO_MORE_RESULTS = 3;

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

export function readCommitResponse(bytes: Buffer): CommitResponse {
  const mutationResults: MutationResult[] = [];
  for (const reader = new MessageReader(bytes); reader.next();) {
    if (reader.field === 3) mutationResults.push(readMutationResult(reader.message()));
  }
  return { mutationResults };
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
  let more = 0;
  while (reader.next()) {
    if (reader.field === 2) keys.push(readEntityResult(reader.message()).entity?.key ?? NO_KEY);
    else if (reader.field === 4) endCursor = reader.bytes();
    else if (reader.field === 5) more = reader.number();
  }
  return { keys, endCursor, moreResults: moreResultsOf(more) };
}

function moreResultsOf(value: number): QueryBatch['moreResults'] {
  if (value === NOT_FINISHED) return 'NOT_FINISHED';
  return value === NO_MORE_RESULTS ? 'NO_MORE_RESULTS' : undefined;
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
