// Checks keys and makes strings in their order: an entity and its descendants are one range.
import { isUtf8 } from 'node:buffer';
import {
  INDEXED_BYTES_MAX,
  KEY_BYTES_MAX,
  KEY_OVERHEAD_BYTES,
  NUMBER_BYTES,
  PATH_ELEMENTS_MAX,
  STRING_OVERHEAD_BYTES,
} from '../wire/limits.ts';
import { inside, invalid, unsupported } from '../wire/status.ts';
import { bytesField, WireReader } from '../wire/wire.ts';

/** The name under which queries and masks speak of an entity's key. */
export const KEY = '__key__';

/** Project and database of a request, to which all its keys must belong. */
export interface Database {
  readonly projectId: string;
  readonly databaseId: string;
}

export interface KeyRef {
  /** Project, database and namespace as one string. */
  readonly partition: string;
  readonly namespaceId: string;
  /** Kind of the last element. */
  readonly kind: string;
  /** Sorts keys of a partition as strings, a character a byte. */
  readonly order: string;
  /** The encoded `Key`, canonical. */
  readonly encoded: Buffer;
  /** By the service's formula. */
  readonly sizeBytes: number;
}

/** Kinds of keys that a field of a request allows. */
export interface KeyRules {
  /** Reserved kinds and names; default: refused. */
  readonly reserved?: 'allowed';
}

interface Path {
  kind: string;
  order: string;
  count: number;
  sizeBytes: number;
}

/** Throws INVALID_ARGUMENT naming the field below the key. */
export function parseKey(bytes: Buffer, database: Database, rules: KeyRules = {}): KeyRef {
  const reader = new WireReader(bytes);
  const path: Path = { kind: '', order: '', count: 0, sizeBytes: KEY_OVERHEAD_BYTES };
  let partition: Buffer | undefined;
  let canonical = true;
  while (reader.next()) {
    if (reader.field === 1) {
      canonical &&= partition === undefined;
      partition = reader.slice();
    } else if (reader.field === 2) {
      readElement(reader.message(), path, rules);
    } else {
      canonical = false;
    }
  }
  if (path.count === 0) throw invalid('path', 'must have at least one element');
  const place = inside('partition_id', () => readPartition(partition, database, rules));
  const encoded = canonical && place.canonical ? bytes : encodeKey(bytes, database, place.namespaceId);
  if (path.sizeBytes > KEY_BYTES_MAX) throw invalid('path', `the key is larger than ${KEY_BYTES_MAX} bytes`);
  return {
    partition: partitionName(database, place.namespaceId),
    namespaceId: place.namespaceId,
    kind: path.kind,
    order: path.order,
    encoded,
    sizeBytes: path.sizeBytes,
  };
}

/** Identifies the partition of a query. */
export function partitionOf(bytes: Buffer | undefined, database: Database): string {
  return partitionName(database, readPartition(bytes, database, { reserved: 'allowed' }).namespaceId);
}

/** Identifies a key across partitions. */
export function keyName({ partition, order }: Pick<KeyRef, 'partition' | 'order'>): string {
  return `${partition}\n${order}`;
}

/** The key for people: `Kind:name/Kind:5`. */
export function describeKey({ encoded }: KeyRef): string {
  const elements: string[] = [];
  const reader = new WireReader(encoded);
  while (reader.next()) {
    if (reader.field !== 2) continue;
    const element = reader.message();
    let text = '';
    while (element.next()) {
      if (element.field === 1) text = `${element.text()}:${text}`;
      else if (element.field === 2) text += String(element.int64());
      else if (element.field === 3) text += element.text();
    }
    elements.push(text);
  }
  return elements.join('/');
}

function readElement(reader: WireReader, path: Path, rules: KeyRules): void {
  const field = `path[${path.count}]`;
  if (path.count === PATH_ELEMENTS_MAX) throw invalid('path', `must not have more than ${PATH_ELEMENTS_MAX} elements`);
  let kind = '';
  let kindOrder = '';
  let identifier = '';
  let sizeBytes = 0;
  while (reader.next()) {
    if (reader.field === 1) {
      kind = readName(reader, `${field}.kind`, rules);
      kindOrder = escaped(reader);
      sizeBytes += reader.sizeBytes + STRING_OVERHEAD_BYTES;
    } else if (reader.field === 2) {
      const id = reader.int64();
      if (id === 0n) throw invalid(`${field}.id`, 'must not be zero');
      identifier = `\u0001${orderedInteger(id)}`;
      sizeBytes += NUMBER_BYTES;
    } else if (reader.field === 3) {
      readName(reader, `${field}.name`, rules);
      identifier = `\u0002${escaped(reader)}`;
      sizeBytes += reader.sizeBytes + STRING_OVERHEAD_BYTES;
    }
  }
  if (kindOrder === '') throw invalid(`${field}.kind`, 'must not be empty');
  if (identifier === '') throw invalid(field, 'must have an id or a name');
  path.kind = kind;
  path.order += kindOrder + identifier;
  path.count += 1;
  path.sizeBytes += sizeBytes;
}

function readName(reader: WireReader, field: string, rules: KeyRules): string {
  if (reader.sizeBytes === 0) throw invalid(field, 'must not be empty');
  if (reader.sizeBytes > INDEXED_BYTES_MAX) throw invalid(field, `must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (!isUtf8(reader.slice())) throw invalid(field, 'must be valid UTF-8');
  const text = reader.text();
  if (rules.reserved !== 'allowed' && isReserved(text)) throw invalid(field, `"${text}" is reserved`);
  return text;
}

/** Names that begin and end with two underscores belong to the service. */
export function isReserved(name: string): boolean {
  return name.length >= 4 && name.startsWith('__') && name.endsWith('__');
}

/** Throws if masks, filters and orders must not name this. Embedded paths are UNIMPLEMENTED. */
export function checkPath(path: string, field: string): void {
  if (path !== KEY && isReserved(path)) throw invalid(field, `"${path}" is reserved`);
  if (/[.\\]/.test(path)) throw unsupported(`${field} "${path}": a path into an embedded entity`);
}

interface PartitionRef {
  readonly namespaceId: string;
  /** It says project and database as the request does. */
  readonly canonical: boolean;
}

const DIMENSION = /^[A-Za-z\d.\-_]{1,100}$/;

function readPartition(bytes: Buffer | undefined, database: Database, rules: KeyRules): PartitionRef {
  let projectId = '';
  let databaseId = '';
  let namespaceId = '';
  const reader = new WireReader(bytes ?? EMPTY);
  while (reader.next()) {
    if (reader.field === 2) projectId = reader.text();
    else if (reader.field === 3) databaseId = reader.text();
    else if (reader.field === 4) namespaceId = reader.text();
  }
  checkDatabase(projectId, databaseId, database);
  if (namespaceId !== '') {
    if (!DIMENSION.test(namespaceId)) throw invalid('namespace_id', 'must match [A-Za-z\\d.\\-_]{1,100}');
    if (rules.reserved !== 'allowed' && isReserved(namespaceId)) throw invalid('namespace_id', 'is reserved');
  }
  return { namespaceId, canonical: projectId !== '' && databaseId === database.databaseId };
}

function checkDatabase(projectId: string, databaseId: string, database: Database): void {
  if (projectId !== '' && projectId !== database.projectId) {
    throw invalid('project_id', `is "${projectId}", but the request is for the project "${database.projectId}"`);
  }
  if (databaseId !== '' && databaseId !== database.databaseId) {
    throw invalid('database_id', `is "${databaseId}", but the request is for the database "${database.databaseId}"`);
  }
}

const EMPTY = Buffer.alloc(0);

function partitionName({ projectId, databaseId }: Database, namespaceId: string): string {
  return `${projectId}\n${databaseId}\n${namespaceId}`;
}

function encodeKey(bytes: Buffer, { projectId, databaseId }: Database, namespaceId: string): Buffer {
  const partition = [
    { field: 2, text: projectId },
    { field: 3, text: databaseId },
    { field: 4, text: namespaceId },
  ].filter(({ text }) => text !== '');
  const parts = bytesField(
    1,
    Buffer.concat(partition.flatMap(({ field, text }) => bytesField(field, Buffer.from(text)))),
  );
  const reader = new WireReader(bytes);
  while (reader.next()) if (reader.field === 2) parts.push(...bytesField(2, reader.slice()));
  return Buffer.concat(parts);
}

/** Sorts a text before its extensions: 0xff follows a zero byte in it, 0x01 its end. */
function escaped(reader: WireReader): string {
  const text = reader.bytes.toString('latin1', reader.start, reader.end);
  return `${text.includes('\0') ? text.replaceAll('\0', '\0\u00ff') : text}\0\u0001`;
}

/** Eight characters that compare as the numbers do. */
function orderedInteger(id: bigint): string {
  ID_BYTES.writeBigInt64BE(id);
  ID_BYTES[0]! ^= 0x80;
  return ID_BYTES.toString('latin1');
}

const ID_BYTES = Buffer.alloc(8);
