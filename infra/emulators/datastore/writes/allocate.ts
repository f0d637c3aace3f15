// Chooses ids for keys. They are numbers of versions, of which none is given out twice.
import { type Database, isIncomplete, type KeyRef, parseKey, withId } from '../entities/entity-keys.ts';
import type { Storage } from '../storage/storage.ts';
import type { Services } from '../storage/open-transactions.ts';
import { type AllocateIdsRequest, encoder } from '../wire/protocol.ts';
import { inside, invalid } from '../wire/rpc-status.ts';

const encodeResponse = encoder('AllocateIdsResponse');

export function allocateIds({ keys }: AllocateIdsRequest, database: Database, { storage }: Services): Buffer {
  const complete = keys.map((key, place) =>
    inside(`keys[${place}]`, () => {
      if (!isIncomplete(key)) throw invalid('path', 'must end in a kind without an identifier');
      return allocate(key, database, storage).encoded;
    }),
  );
  return encodeResponse({ keys: complete });
}

/** An incomplete key with an id that no entity has. */
export function allocate(incomplete: Buffer, database: Database, storage: Storage): KeyRef {
  let key: KeyRef;
  do key = parseKey(withId(incomplete, storage.nextVersion()), database);
  while (storage.get(key) !== undefined);
  return key;
}
