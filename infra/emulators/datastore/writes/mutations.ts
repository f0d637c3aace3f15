// A mutation is checked when its request arrives, and applied later to its key's present state.
import {
  checkedProperties,
  checkEntityBytes,
  encodeEntity,
  parseEntity,
  propertiesOf,
  sameProperties,
} from '../entities/entities.ts';
import { type Database, describeKey, isIncomplete, type KeyRef, parseKey } from '../entities/entity-keys.ts';
import { type Mask, maskOf, merged } from '../entities/mask.ts';
import type { Properties } from '../entities/entity-values.ts';
import type { Storage, Stored } from '../storage/storage.ts';
import { enumValue, type Mutation, type Operation, timestampOf } from '../wire/protocol.ts';
import { inside, invalid, status, StatusError, unsupported } from '../wire/rpc-status.ts';
import { allocate } from './allocate.ts';

export interface CheckedMutation {
  readonly operation: Operation;
  readonly key: KeyRef;
  /** The emulator chose the key's id. */
  readonly isAllocated: boolean;
  readonly database: Database;
  /** None for a delete. */
  readonly properties: Properties;
  readonly mask: Mask | undefined;
  /** The version that must be current; undefined: any. */
  readonly baseVersion: number | undefined;
}

const FAIL = enumValue('Mutation.ConflictResolutionStrategy', 'FAIL');

/** Throws INVALID_ARGUMENT that names the field in the mutation. */
export function checkMutation(mutation: Mutation, database: Database, storage: Storage): CheckedMutation {
  const { operation } = mutation;
  if (operation === undefined) throw invalid('operation', 'one of insert, update, upsert and delete must be set');
  if (mutation.propertyTransforms.length > 0) throw unsupported('property_transforms');
  const baseVersion = baseVersionOf(mutation, operation);
  if (operation === 'delete') {
    const key = inside('delete', () => parseKey(mutation.delete, database));
    return { operation, key, isAllocated: false, database, properties: NONE, mask: undefined, baseVersion };
  }
  const entity = inside(operation, () => {
    const { key: given, properties, sizeBytes } = parseEntity(mutation[operation], database);
    const isAllocated = operation !== 'update' && inside('key', () => isIncomplete(given));
    const key = inside('key', () => (isAllocated ? allocate(given, database, storage) : parseKey(given, database)));
    // A patch is checked again when it is applied, because the properties that it keeps count too.
    checkEntityBytes(key, sizeBytes);
    return { key, isAllocated, properties };
  });
  return { operation, ...entity, database, mask: maskOf(mutation.propertyMask), baseVersion };
}

const NONE: Properties = new Map();

/** The version on which a write depends. A conflict must make it fail. */
function baseVersionOf(mutation: Mutation, operation: Operation): number | undefined {
  const { conflictDetectionStrategy: detection, conflictResolutionStrategy: resolution } = mutation;
  if (detection === undefined) {
    if (resolution !== 0) throw invalid('conflict_resolution_strategy', 'needs base_version to be set too');
    return undefined;
  }
  if (detection !== 'baseVersion') throw unsupported('update_time');
  if (resolution !== FAIL) throw unsupported('conflict_resolution_strategy: other than FAIL');
  const baseVersion = Number(mutation.baseVersion);
  if (baseVersion < 0) throw invalid('base_version', 'must not be negative');
  if (operation === 'insert' && baseVersion > 0) throw invalid('base_version', 'must be zero for an insert');
  if (operation === 'update' && baseVersion === 0) throw invalid('base_version', 'must not be zero for an update');
  return baseVersion;
}

/** Throws ALREADY_EXISTS, NOT_FOUND or FAILED_PRECONDITION, and then changes nothing. */
export function applyMutation(mutation: CheckedMutation, version: number, storage: Storage): object {
  const { operation, key, isAllocated, baseVersion } = mutation;
  const current = storage.get(key);
  if (baseVersion !== undefined && (current?.version ?? 0) !== baseVersion)
    throw new StatusError(
      status.FAILED_PRECONDITION,
      `the version of ${describeKey(key)} is ${current?.version ?? 0}, not the base version ${baseVersion}`,
    );
  if (operation === 'delete') {
    if (current !== undefined) storage.put(key, undefined, version);
    return { version };
  }
  if (operation === 'insert' && current !== undefined)
    throw new StatusError(status.ALREADY_EXISTS, `the entity ${describeKey(key)} exists already`);
  if (operation === 'update' && current === undefined)
    throw new StatusError(status.NOT_FOUND, `there is no entity ${describeKey(key)} to update`);
  const properties = nextProperties(mutation, current);
  const changed = current === undefined || !sameProperties(propertiesOf(current.entity!), properties);
  const stored = changed ? storage.put(key, encodeEntity(key.encoded, properties), version) : current;
  return {
    ...(isAllocated && { key: key.encoded }),
    version: stored.version,
    createTime: timestampOf(stored.created),
    updateTime: timestampOf(stored.version),
  };
}

/** The properties after the mutation. Throws INVALID_ARGUMENT if a patch makes them too large. */
function nextProperties({ mask, key, database, properties }: CheckedMutation, current: Stored | undefined): Properties {
  if (mask === undefined) return properties;
  const patched = merged(current === undefined ? NONE : propertiesOf(current.entity!), properties, mask);
  checkEntityBytes(key, checkedProperties(patched, database).sizeBytes);
  return patched;
}
