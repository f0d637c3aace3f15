// A mutation: checked as the request arrives, applied later to its key's current state.
import {
  checkEntityBytes,
  encodeEntity,
  parseEntity,
  propertiesBytes,
  propertiesOf,
  sameProperties,
} from '../entities/entities.ts';
import { type Database, describeKey, type KeyRef, parseKey } from '../entities/keys.ts';
import { type Mask, maskOf, merged } from '../entities/mask.ts';
import type { Properties } from '../entities/values.ts';
import type { Services } from '../storage/services.ts';
import type { Stored } from '../storage/storage.ts';
import { enumValue, microsecondsOf, type Mutation, timestampOf } from '../wire/protocol.ts';
import { inside, invalid, status, StatusError, unsupported } from '../wire/status.ts';

export type Operation = 'insert' | 'update' | 'upsert' | 'delete';

export interface CheckedMutation {
  readonly operation: Operation;
  readonly key: KeyRef;
  /** None for a delete. */
  readonly properties: Properties;
  readonly mask: Mask | undefined;
  /** The version that must be current; undefined: any. */
  readonly baseVersion: number | undefined;
  readonly onConflict: 'fail' | 'keep';
}

const FAIL = enumValue('Mutation.ConflictResolutionStrategy', 'FAIL');
const SERVER_VALUE = enumValue('Mutation.ConflictResolutionStrategy', 'SERVER_VALUE');

/** Throws INVALID_ARGUMENT naming the field below the mutation. */
export function checkMutation(mutation: Mutation, database: Database): CheckedMutation {
  const { operation } = mutation;
  if (operation === undefined) throw invalid('operation', 'one of insert, update, upsert and delete must be set');
  if (mutation.propertyTransforms.length > 0) throw unsupported('property_transforms');
  const conflict = checkConflict(mutation, operation);
  if (operation === 'delete') {
    const key = inside('delete', () => parseKey(mutation.delete, database));
    return { operation, key, properties: NONE, mask: undefined, ...conflict };
  }
  const completeness = operation === 'update' ? 'complete' : 'either';
  const entity = inside(operation, () => {
    const parsed = parseEntity(mutation[operation], database, { completeness });
    // A patch's size is checked when it is applied: the properties it leaves as they are count too.
    checkEntityBytes(parsed.key, parsed.sizeBytes);
    return parsed;
  });
  const mask = maskOf(mutation.propertyMask);
  return {
    operation,
    key: entity.key,
    properties: entity.properties,
    mask,
    ...conflict,
  };
}

const NONE: Properties = new Map();

function checkConflict(mutation: Mutation, operation: Operation): Pick<CheckedMutation, 'baseVersion' | 'onConflict'> {
  const strategy = mutation.conflictResolutionStrategy;
  if (strategy !== 0 && strategy !== FAIL && strategy !== SERVER_VALUE)
    throw invalid('conflict_resolution_strategy', `${strategy} is not one of its values`);
  const detection = mutation.conflictDetectionStrategy;
  if (detection === undefined) {
    if (strategy !== 0)
      throw invalid('conflict_resolution_strategy', 'needs base_version or update_time to be set too');
    return { baseVersion: undefined, onConflict: 'keep' };
  }
  const field = detection === 'baseVersion' ? 'base_version' : 'update_time';
  const baseVersion = detection === 'baseVersion' ? Number(mutation.baseVersion) : microsecondsOf(mutation.updateTime);
  if (baseVersion < 0) throw invalid(field, 'must not be negative');
  if (operation === 'insert' && baseVersion > 0) throw invalid(field, 'must be zero for an insert');
  if (operation === 'update' && baseVersion === 0) throw invalid(field, 'must not be zero for an update');
  return { baseVersion, onConflict: strategy === FAIL ? 'fail' : 'keep' };
}

export type MutationResult = object;

/** Throws ALREADY_EXISTS, NOT_FOUND or FAILED_PRECONDITION, and then changes nothing. */
export function applyMutation(mutation: CheckedMutation, version: number, { storage }: Services): MutationResult {
  const { operation, key, baseVersion, onConflict } = mutation;
  const current = storage.get(key);
  if (baseVersion !== undefined && (current?.version ?? 0) !== baseVersion) {
    if (onConflict === 'keep') return { ...resultOf(current, version), conflictDetected: true };
    throw new StatusError(
      status.FAILED_PRECONDITION,
      `the version of ${describeKey(key)} is ${current?.version ?? 0}, not the base version ${baseVersion}`,
    );
  }
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
  return resultOf(changed ? storage.put(key, encodeEntity(key, properties), version) : current, version);
}

/** The properties afterwards. Throws INVALID_ARGUMENT if a patch makes them too large. */
function nextProperties({ mask, key, properties }: CheckedMutation, current: Stored | undefined): Properties {
  if (mask === undefined) return properties;
  const patched = merged(current === undefined ? NONE : propertiesOf(current.entity!), properties, mask);
  checkEntityBytes(key, propertiesBytes(patched));
  return patched;
}

function resultOf(stored: Stored | undefined, version: number): object {
  if (stored === undefined) return { version };
  return { version: stored.version, createTime: timestampOf(stored.created), updateTime: timestampOf(stored.version) };
}
