// Finds entities by key. An answer that is too large for clients is cut, and the rest deferred.
import { encodeEntity, shown } from '../entities/entities.ts';
import { type Database, keyName, type KeyRef, parseKey } from '../entities/entity-keys.ts';
import { maskOf } from '../entities/mask.ts';
import type { Stored } from '../storage/storage.ts';
import { readAs, type Services } from '../storage/open-transactions.ts';
import { ANSWER_BYTES_MAX, LOOKUP_KEYS_MAX } from '../wire/service-limits.ts';
import { encoder, type LookupRequest, timestampOf } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/rpc-status.ts';

const encodeResponse = encoder('LookupResponse');

/** The bytes of a result's version, times and tags, which come beside its entity and cursor. */
export const RESULT_OVERHEAD_BYTES = 64;

function keysOf({ keys }: LookupRequest, database: Database): KeyRef[] {
  if (keys.length > LOOKUP_KEYS_MAX)
    throw invalid('keys', `must not be more than ${LOOKUP_KEYS_MAX}; there are ${keys.length}`);
  return keys.map((bytes, place) => inside(`keys[${place}]`, () => parseKey(bytes, database, { reserved: 'allowed' })));
}

export function lookup(request: LookupRequest, database: Database, { storage, transactions }: Services): Buffer {
  const keys = keysOf(request, database);
  const mask = maskOf(request.propertyMask);
  const { transaction, isNew } = readAs(request.readOptions, transactions);
  const version = transaction?.snapshot;
  const readVersion = version ?? storage.lastVersion;
  const found: object[] = [];
  const missing: object[] = [];
  const deferred: Buffer[] = [];
  let bytesLeft = ANSWER_BYTES_MAX;
  for (const key of new Map(keys.map((each) => [keyName(each), each])).values()) {
    const stored = storage.get(key, version);
    const entity = stored === undefined ? encodeEntity(key.encoded) : shown(stored.entity!, mask);
    bytesLeft -= entity.length + RESULT_OVERHEAD_BYTES;
    // The first always fits: an entity is smaller than an answer.
    if (bytesLeft < 0) {
      deferred.push(key.encoded);
      continue;
    }
    transaction?.reads.set(keyName(key), key);
    if (stored === undefined) missing.push({ entity, version: readVersion });
    else found.push(resultOf(stored, entity));
  }
  return encodeResponse({
    found,
    missing,
    deferred,
    readTime: timestampOf(readVersion),
    ...(isNew === true && { transaction: transaction!.id }),
  });
}

/** An `EntityResult`. */
export function resultOf({ version, created }: Stored, entity: Buffer): object {
  return { entity, version, createTime: timestampOf(created), updateTime: timestampOf(version) };
}
