// Caches entities' sizes that Azurite confirmed, so that a merge need not read its entity. An
// uncertain outcome forgets the entity.
import { LRUCache } from 'lru-cache';
import type { Answer } from './answers.ts';
import type { Operation } from './operations.ts';
import type { PropertySizes } from './size.ts';

/** The bound on the cache, in properties; they take some 50 MiB. */
const PROPERTIES_KNOWN_MAX = 500_000;

/** A write, and the sizes of its entity afterwards; undefined for a deletion. */
export interface Change {
  readonly operation: Operation;
  readonly after: PropertySizes | undefined;
}

export interface KnownSizes {
  get(operation: Operation): PropertySizes | undefined;
  set(operation: Operation, sizes: PropertySizes): void;
  /**
   * Updates the sizes by Azurite's answer to a request with these changes; undefined: there was no
   * answer.
   */
  learn(changes: readonly Change[], answer: Answer | undefined): void;
}

export function createKnownSizes(): KnownSizes {
  const known = new LRUCache<string, PropertySizes>({
    maxSize: PROPERTIES_KNOWN_MAX,
    sizeCalculation: ({ size }) => size + 1,
  });
  return {
    get: (operation) => known.get(nameOf(operation)),
    set: (operation, sizes) => void known.set(nameOf(operation), sizes),
    learn(changes, answer) {
      const fate = fateOf(answer);
      if (fate === 'refused') return;
      for (const { operation, after } of changes) {
        if (fate === 'applied' && after !== undefined) known.set(nameOf(operation), after);
        else known.delete(nameOf(operation));
      }
    },
  };
}

/** A refused transaction counts as unknown: Azurite is not trusted to have undone all of it. */
function fateOf(answer: Answer | undefined): 'applied' | 'refused' | 'unknown' {
  if (answer === undefined || answer.status >= 500) return 'unknown';
  if (answer.status >= 400) return 'refused';
  return /^HTTP\/1\.1 [45]/m.test(answer.body.toString('latin1')) ? 'unknown' : 'applied';
}

function nameOf({ table, partitionKey, rowKey }: Operation): string {
  return JSON.stringify([table, partitionKey, rowKey]);
}
