// Hands out free numeric ids, evenly spread: keys do not pile up at one end.
import { randomInt } from 'node:crypto';
import { completeKey, type Database, keyName, type KeyRef } from '../entities/keys.ts';
import type { Storage } from './storage.ts';

export interface Ids {
  /** Completes a key whose last element has no identifier. */
  allocate(key: KeyRef, database: Database): KeyRef;
  clear(): void;
}

/** Ids have at most 16 digits, so that every language's numbers hold them. */
const HALF = 2 ** 26;

export function createIds(storage: Storage): Ids {
  const taken = new Set<string>();
  return {
    allocate(incomplete, database) {
      for (;;) {
        const id = BigInt(randomInt(1, HALF)) * BigInt(HALF) + BigInt(randomInt(HALF));
        const key = completeKey(incomplete, database, id);
        if (taken.has(keyName(key)) || storage.get(key) !== undefined) continue;
        taken.add(keyName(key));
        return key;
      }
    },
    clear: () => taken.clear(),
  };
}
