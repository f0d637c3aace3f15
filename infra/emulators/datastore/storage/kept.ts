// A storage kept in a file: a call's writes are in it before the call is answered.
import { type Change, openJournal } from './journal.ts';
import { keyName, type KeyRef } from '../entities/entity-keys.ts';
import { createStorage, type Dump, type Storage } from './storage.ts';

export type KeptStorage = ReturnType<typeof createKeptStorage>;

type Entity = Dump['entities'][number];

/** The greatest version that was given out; no key's name is empty. */
const LAST_VERSION = '';

/** Without a file the data is in memory alone. Throws if the file holds something else. */
export function createKeptStorage(nowMs: () => number, file: string | undefined) {
  if (file === undefined) {
    const storage = createStorage(nowMs);
    return { storage, keep() {}, clear: () => storage.clear(), close() {} };
  }
  const changed = new Map<string, KeyRef>();
  const storage = createStorage(nowMs, (key) => changed.set(keyName(key), key));
  const journal = openJournal(file, (entries) => storage.restore(dumpOf(entries)));
  return {
    storage,
    /** Writes the changes since the last call to the file. */
    keep() {
      if (changed.size === 0) return;
      journal.append([[LAST_VERSION, storage.lastVersion], ...[...changed].map((one) => changeOf(storage, one))]);
      changed.clear();
    },
    clear() {
      storage.clear();
      changed.clear();
      journal.clear();
    },
    close: () => journal.close(),
  };
}

/** The key's present state, also after a transaction was rolled back. */
function changeOf(storage: Storage, [name, key]: readonly [string, KeyRef]): Change {
  const stored = storage.get(key);
  if (stored?.entity === undefined) return [name, undefined];
  const { partition, kind } = key;
  const { order, version, created, entity } = stored;
  return [name, { partition, kind, order, version, created, entity } satisfies Entity];
}

function dumpOf(entries: ReadonlyMap<string, unknown>): Dump {
  const entities = [...entries].filter(([name]) => name !== LAST_VERSION).map(([, entity]) => entity as Entity);
  return { lastVersion: Number(entries.get(LAST_VERSION) ?? 0), entities };
}
