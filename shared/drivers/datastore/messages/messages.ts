// The messages of google.datastore.v1 that this driver sends or reads, by their JSON names.

export interface Database {
  readonly projectId: string;
  /** Empty: the project's default database. */
  readonly databaseId: string;
}

export interface PartitionId extends Database {
  readonly namespaceId: string;
}

export interface Key {
  readonly partitionId?: PartitionId;
  /** One element with a name; a foreign key with a number has the name `''`. */
  readonly path: readonly { readonly kind: string; readonly name: string }[];
}

/** At most one of the first three is set; in a reply a value of another type has none. */
export interface Value {
  readonly blobValue?: Uint8Array;
  readonly stringValue?: string;
  readonly keyValue?: Key;
  readonly excludeFromIndexes?: boolean;
}

export type Properties = Readonly<Record<string, Value>>;

export interface StoredEntity {
  readonly key: Key;
  readonly properties: Properties;
}

/** One of the first three, with its condition. */
export interface Mutation {
  readonly insert?: StoredEntity;
  readonly update?: StoredEntity;
  readonly delete?: Key;
  /** A signed 64-bit number. */
  readonly baseVersion?: string;
  readonly conflictResolutionStrategy?: 'FAIL';
  /** The properties that an update changes. Default: all. */
  readonly propertyMask?: readonly string[];
}

/** Keys of one kind in their order. */
export interface KeysQuery {
  readonly kind: string;
  /** From the first of these keys to before the second. Default: all. */
  readonly range?: readonly [from: Key, before: Key];
  /** The end of an earlier reply. */
  readonly startCursor?: Uint8Array;
  readonly limit: number;
}

export interface EntityResult {
  readonly entity?: Partial<StoredEntity> | undefined;
  /** A positive 64-bit number. */
  readonly version?: string | undefined;
}

/** The service may put off or leave out keys, which have to be asked for again. */
export interface LookupResponse {
  readonly found?: readonly EntityResult[];
  readonly missing?: readonly Key[];
}

export interface MutationResult extends Pick<EntityResult, 'version'> {
  readonly conflictDetected?: boolean;
}

export interface QueryBatch {
  readonly keys: readonly Key[];
  readonly endCursor: Uint8Array;
  /** The API's name of how it ended, such as `NOT_FINISHED` or `NO_MORE_RESULTS`. */
  readonly moreResults: string | undefined;
}
