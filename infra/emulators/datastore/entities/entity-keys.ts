// Checks keys, and makes strings that sort as the keys do: an entity and its descendants are one
// range.
import { isUtf8 } from 'node:buffer';
import {
  INDEXED_BYTES_MAX,
  KEY_BYTES_MAX,
  KEY_OVERHEAD_BYTES,
  NUMBER_BYTES,
  PATH_ELEMENTS_MAX,
  STRING_OVERHEAD_BYTES,
} from '../wire/service-limits.ts';
import { decoder, encoder, type PartitionId, type PathElement } from '../wire/protocol.ts';
import { inside, invalid, unsupported } from '../wire/rpc-status.ts';

/** The name of an entity's key in queries and masks. */
export const KEY = '__key__';

/** Project and database of a request, to which all its keys must belong. */
export interface Database {
  readonly projectId: string;
  readonly databaseId: string;
}

export interface KeyRef {
  /** Project, database and namespace as one string. */
  readonly partition: string;
  /** Kind of the last element. */
  readonly kind: string;
  /** Sorts as the key does within its partition; each character stands for one byte. */
  readonly order: string;
  /** The encoded `Key`, canonical. */
  readonly encoded: Buffer;
  /** By the service's formula. */
  readonly sizeBytes: number;
}

/** What a field allows in a key beyond the usual. Default: none of these. */
export interface KeyRules {
  /** Reserved kinds and names. */
  readonly reserved?: 'allowed';
  /** Another project or database than the request's. */
  readonly foreign?: 'allowed';
  /** A last element without an identifier. */
  readonly incomplete?: 'allowed';
}

const decode = decoder('Key');
const encode = encoder('Key');

/** Throws INVALID_ARGUMENT that names the field in the key. */
export function parseKey(bytes: Buffer, database: Database, rules: KeyRules = {}): KeyRef {
  const { partitionId, path } = decode(bytes);
  if (path.length === 0) throw invalid('path', 'must have at least one element');
  if (path.length > PATH_ELEMENTS_MAX) throw invalid('path', `must not have more than ${PATH_ELEMENTS_MAX} elements`);
  const place = inside('partition_id', () => placeOf(partitionId, database, rules));
  let order = '';
  let sizeBytes = KEY_OVERHEAD_BYTES;
  for (const [at, element] of path.entries()) {
    sizeBytes += element.kind.length + STRING_OVERHEAD_BYTES;
    if (rules.incomplete === 'allowed' && at === path.length - 1 && element.idType === undefined) continue;
    order += inside(`path[${at}]`, () => orderOf(element, rules));
    sizeBytes += element.idType === 'id' ? NUMBER_BYTES : element.name.length + STRING_OVERHEAD_BYTES;
  }
  if (sizeBytes > KEY_BYTES_MAX) throw invalid('path', `the key is larger than ${KEY_BYTES_MAX} bytes`);
  const named = Object.fromEntries(Object.entries(place).filter(([, text]) => text !== ''));
  const encoded = encode({ partitionId: named, path });
  return { partition: partitionName(place), kind: path.at(-1)!.kind.toString(), order, encoded, sizeBytes };
}

/** Whether only the identifier of the last element is missing. */
export function isIncomplete(key: Buffer): boolean {
  const last = decode(key).path.at(-1);
  return last !== undefined && last.idType === undefined;
}

/** An incomplete key with its identifier. */
export function withId(key: Buffer, id: number): Buffer {
  const { partitionId, path } = decode(key);
  return encode({ partitionId, path: [...path.slice(0, -1), { ...path.at(-1), id }] });
}

/** Identifies the partition of a query. */
export function partitionOf(partitionId: PartitionId | null, database: Database): string {
  return partitionName(placeOf(partitionId, database, { reserved: 'allowed' }));
}

function partitionName({ projectId, databaseId, namespaceId }: PartitionId): string {
  return `${projectId}\n${databaseId}\n${namespaceId}`;
}

/** Identifies a key across partitions. */
export function keyName({ partition, order }: Pick<KeyRef, 'partition' | 'order'>): string {
  return `${partition}\n${order}`;
}

/** The key for people: `Kind:name/Kind:5`. */
export function describeKey({ encoded }: KeyRef): string {
  const { path } = decode(encoded);
  const words = path.map(({ kind, idType, id, name }) => [kind, idType === 'id' ? integerOf(id) : name].join(':'));
  return words.join('/');
}

function orderOf({ kind, idType, id, name }: PathElement, rules: KeyRules): string {
  checkName(kind, 'kind', rules);
  if (idType === undefined) throw invalid('', 'must have an id or a name');
  if (idType === 'id') {
    if (integerOf(id) === 0n) throw invalid('id', 'must not be zero');
    return `${escaped(kind)}\u0001${orderedInteger(integerOf(id))}`;
  }
  checkName(name, 'name', rules);
  return `${escaped(kind)}\u0002${escaped(name)}`;
}

function checkName(bytes: Buffer, field: string, rules: KeyRules): void {
  if (bytes.length === 0) throw invalid(field, 'must not be empty');
  if (bytes.length > INDEXED_BYTES_MAX) throw invalid(field, `must not be longer than ${INDEXED_BYTES_MAX} bytes`);
  if (!isUtf8(bytes)) throw invalid(field, 'must be valid UTF-8');
  const text = bytes.toString();
  if (rules.reserved !== 'allowed' && isReserved(text)) throw invalid(field, `"${text}" is reserved`);
}

/** Names that begin and end with two underscores belong to the service. */
export function isReserved(name: string): boolean {
  return name.length >= 4 && name.startsWith('__') && name.endsWith('__');
}

/** Throws unless a mask, filter or order may name this. Embedded paths are UNIMPLEMENTED. */
export function checkPath(path: string, field: string): void {
  if (path !== KEY && isReserved(path)) throw invalid(field, `"${path}" is reserved`);
  if (/[.\\]/.test(path)) throw unsupported(`${field} "${path}": a path into an embedded entity`);
}

const DIMENSION = /^[A-Za-z\d.\-_]{1,100}$/;

/** The request's database with the namespace. Throws if the partition names another database. */
function placeOf(partitionId: PartitionId | null, { projectId, databaseId }: Database, rules: KeyRules): PartitionId {
  const { projectId: project = '', databaseId: database = '', namespaceId = '' } = partitionId ?? {};
  if (rules.foreign === 'allowed')
    return { projectId: project || projectId, databaseId: database || databaseId, namespaceId };
  if (project !== '' && project !== projectId)
    throw invalid('project_id', `is "${project}", but the request is for the project "${projectId}"`);
  if (database !== '' && database !== databaseId)
    throw invalid('database_id', `is "${database}", but the request is for the database "${databaseId}"`);
  if (namespaceId !== '' && !DIMENSION.test(namespaceId))
    throw invalid('namespace_id', 'must match [A-Za-z\\d.\\-_]{1,100}');
  if (rules.reserved !== 'allowed' && isReserved(namespaceId)) throw invalid('namespace_id', 'is reserved');
  return { projectId, databaseId, namespaceId };
}

/** Makes a text sort before its extensions: 0xff follows each zero byte in it, 0x01 its end. */
function escaped(text: Buffer): string {
  return `${text.toString('latin1').replaceAll('\0', '\0\u00ff')}\0\u0001`;
}

function integerOf({ high, low }: PathElement['id']): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}

/** Eight characters that compare as the numbers do. */
function orderedInteger(id: bigint): string {
  ID_BYTES.writeBigInt64BE(id);
  ID_BYTES[0]! ^= 0x80;
  return ID_BYTES.toString('latin1');
}

const ID_BYTES = Buffer.alloc(8);
