// google.datastore.v1 as published, except that the fields which are stored stay encoded. That
// changes nothing on the wire.
import protos from '@google-cloud/datastore-api/build/protos/protos.json' with { type: 'json' };
import protobuf from 'protobufjs/light.js';
import { invalid, StatusError, unsupported } from './rpc-status.ts';

interface Timestamp {
  readonly seconds: protobuf.Long | number;
  readonly nanos: number;
}

export interface ReadOptions {
  readonly consistencyType?: 'readConsistency' | 'transaction' | 'newTransaction' | 'readTime';
  readonly readConsistency: number;
  readonly transaction: Buffer;
  readonly newTransaction: TransactionOptions;
}

export interface TransactionOptions {
  readonly mode?: 'readWrite' | 'readOnly';
}

export interface PropertyMask {
  readonly paths: readonly string[];
}

export interface Request {
  readonly projectId: string;
  readonly databaseId: string;
}

export interface PartitionId extends Request {
  readonly namespaceId: string;
}

export interface Key {
  readonly partitionId: PartitionId | null;
  readonly path: readonly PathElement[];
}

export interface PathElement {
  readonly kind: Buffer;
  readonly idType?: 'id' | 'name';
  readonly id: protobuf.Long;
  readonly name: Buffer;
}

export interface Entity {
  readonly key: Buffer;
  readonly properties: readonly Property[];
}

/** An entry of an entity's properties. */
export interface Property {
  readonly name: Buffer;
  readonly value: Buffer;
}

type OpaqueValue = `${'key' | 'string' | 'blob' | 'timestamp' | 'geoPoint' | 'entity' | 'array'}Value`;

export interface Value extends Readonly<Record<OpaqueValue, Buffer>> {
  readonly valueType?: string;
  readonly meaning: number;
  readonly excludeFromIndexes: boolean;
}

export interface AllocateIdsRequest extends Request {
  readonly keys: readonly Buffer[];
}

export interface LookupRequest extends AllocateIdsRequest {
  readonly readOptions: ReadOptions | null;
  readonly propertyMask: PropertyMask | null;
}

export interface CommitRequest extends Request {
  readonly mode: number;
  readonly transactionSelector?: 'transaction' | 'singleUseTransaction';
  readonly transaction: Buffer;
  readonly singleUseTransaction: TransactionOptions;
  readonly mutations: readonly Mutation[];
}

export type Operation = 'insert' | 'update' | 'upsert' | 'delete';

export interface Mutation extends Readonly<Record<Operation, Buffer>> {
  readonly operation?: Operation;
  readonly conflictDetectionStrategy?: 'baseVersion' | 'updateTime';
  readonly baseVersion: protobuf.Long;
  readonly conflictResolutionStrategy: number;
  readonly propertyMask: PropertyMask | null;
  readonly propertyTransforms: readonly object[];
}

export interface RunQueryRequest extends Request {
  readonly partitionId: PartitionId | null;
  readonly readOptions: ReadOptions | null;
  readonly queryType?: 'query' | 'gqlQuery';
  readonly query: Query;
  readonly propertyMask: PropertyMask | null;
  readonly explainOptions: object | null;
}

export interface Query {
  readonly projection: readonly { readonly property: PropertyReference | null }[];
  readonly kind: readonly { readonly name: string }[];
  readonly filter: Filter | null;
  readonly order: readonly { readonly property: PropertyReference | null; readonly direction: number }[];
  readonly distinctOn: readonly object[];
  readonly startCursor: Buffer;
  readonly endCursor: Buffer;
  readonly offset: number;
  readonly limit: { readonly value: number } | null;
  readonly findNearest: object | null;
}

export interface PropertyReference {
  readonly name: string;
}

export interface Filter {
  readonly filterType?: 'compositeFilter' | 'propertyFilter';
  readonly compositeFilter: { readonly op: number; readonly filters: readonly Filter[] };
  readonly propertyFilter: {
    readonly property: PropertyReference | null;
    readonly op: number;
    readonly value: Buffer | null;
  };
}

export interface BeginTransactionRequest extends Request {
  readonly transactionOptions: TransactionOptions | null;
}

export interface RollbackRequest extends Request {
  readonly transaction: Buffer;
}

/** The decoded form of each message. */
export interface Messages {
  readonly LookupRequest: LookupRequest;
  readonly CommitRequest: CommitRequest;
  readonly RunQueryRequest: RunQueryRequest;
  readonly BeginTransactionRequest: BeginTransactionRequest;
  readonly RollbackRequest: RollbackRequest;
  readonly Key: Key;
  readonly Entity: Entity;
  readonly Value: Value;
  readonly ArrayValue: { readonly values: readonly Buffer[] };
  readonly AllocateIdsRequest: AllocateIdsRequest;
  readonly 'google.protobuf.Timestamp': Timestamp;
  readonly 'google.type.LatLng': { readonly latitude: number; readonly longitude: number };
}

/** Fields that stay encoded: keys, entities, and texts, which are checked for UTF-8 later. */
const OPAQUE: readonly (readonly [message: string, ...fields: string[]])[] = [
  ['Key.PathElement', 'kind', 'name'],
  ['Value', 'stringValue', 'keyValue', 'timestampValue', 'geoPointValue', 'entityValue', 'arrayValue'],
  ['Mutation', 'insert', 'update', 'upsert', 'delete'],
  ['EntityResult', 'entity'],
  ['ArrayValue', 'values'],
  ['MutationResult', 'key'],
  ['AllocateIdsRequest', 'keys'],
  ['AllocateIdsResponse', 'keys'],
  ['LookupRequest', 'keys'],
  ['LookupResponse', 'deferred'],
  ['PropertyFilter', 'value'],
];

/** On the wire a map is a list of its entries. */
const ENTITY = {
  fields: { key: { type: 'bytes', id: 1 }, properties: { rule: 'repeated', type: 'Property', id: 3 } },
  nested: { Property: { fields: { name: { type: 'bytes', id: 1 }, value: { type: 'bytes', id: 2 } } } },
};

function loadTypes(): protobuf.Namespace {
  const root = protobuf.Root.fromJSON(structuredClone(protos));
  const own = root.lookup('google.datastore.v1') as protobuf.Namespace;
  for (const [message, ...fields] of OPAQUE) {
    const type = own.lookupType(message);
    for (const field of fields) type.fields[field]!.type = 'bytes';
  }
  own.remove(own.get('Entity')!);
  own.add(protobuf.Type.fromJSON('Entity', ENTITY));
  return own;
}

const own = loadTypes();

/** The reader throws INVALID_ARGUMENT for other bytes, UNIMPLEMENTED for unknown fields. */
export function decoder<M extends keyof Messages>(message: M): (bytes: Buffer) => Messages[M] {
  const type = own.lookupType(message);
  const wireTypes = new Map(type.fieldsArray.map((field) => [field.id, wireTypeOf(field)]));
  return (bytes) => {
    try {
      checkTags(bytes, wireTypes);
      return type.decode(bytes) as unknown as Messages[M];
    } catch (error) {
      if (error instanceof StatusError) throw error;
      throw invalid('', `is not a well-formed protobuf message: ${error instanceof Error ? error.message : ''}`);
    }
  };
}

/** No field has packed numbers. */
function wireTypeOf(field: protobuf.Field): number {
  const basic: Readonly<Record<string, number | undefined>> = protobuf.types.basic;
  const { type, resolvedType } = field.resolve();
  return basic[resolvedType instanceof protobuf.Enum ? 'int32' : type] ?? basic['bytes']!;
}

/** Needed because `decode` skips unknown fields, and ignores that a tag has a wrong wire type. */
function checkTags(bytes: Buffer, wireTypes: ReadonlyMap<number, number>): void {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const [id, wireType] = [tag >>> 3, tag & 7];
    if (!wireTypes.has(id)) throw unsupported(`the field ${id}`);
    if (wireTypes.get(id) !== wireType) throw invalid('', `the field ${id} must not have the wire type ${wireType}`);
    reader.skipType(wireType);
  }
}

/** Writes a message of this name. */
export function encoder(message: string): (value: object) => Buffer {
  const type = own.lookupType(message);
  return (value) => type.encode(value).finish() as Buffer;
}

export function enumValue(name: string, value: string): number {
  return own.lookupEnum(name).values[value]!;
}

export function timestampOf(version: number): Timestamp {
  const seconds = Math.floor(version / 1_000_000);
  return { seconds, nanos: (version - seconds * 1_000_000) * 1_000 };
}
