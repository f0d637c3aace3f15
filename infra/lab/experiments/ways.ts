// Ways to write and read records: the client, records handed over together, calls at a time.
import { chunks } from '../../../shared/lab/kit/chunks.ts';
import { randomInt, scramble32, seededRandom } from '../../../shared/lab/kit/random.ts';
import { eachInFlight } from '../../../shared/lab/load/closed-loop.ts';
import { WORDS } from '../../../shared/lab/work/words.ts';
import type { TextRecord, TextTable } from './text-table.ts';

export interface Way {
  readonly client: 'sdk' | 'store';
  /** `cached`: reads that memory may answer. `request`: 5 writes, then 100 reads, together. */
  readonly verb: 'write' | 'transaction' | 'read' | 'cached' | 'request';
  /** In all; of the verb `request` how many requests. */
  readonly records: number;
  /** Records handed over together; 1: by the call for a single record. */
  readonly group: number;
  readonly inFlight: number;
  readonly characters: number;
  /** A root is written before every so many records. Its calls are one after the other then. */
  readonly rootEach?: number;
}

export const REQUEST = { writes: 5, reads: 100 } as const;

/** Old enough for every read of an experiment. */
const CACHED_MS = 3_600_000;

/** The calls of a way. Making the records is no part of them. */
export function callsOf(table: TextTable, way: Way, records: Records): (() => Promise<unknown>)[] {
  const { verb, group, characters, rootEach } = way;
  if (verb === 'request')
    return Array.from({ length: way.records }, () => {
      const [writes, reads] = [records.fresh(REQUEST.writes, characters), records.neighbours(REQUEST.reads)];
      return async () => {
        await table.putMany(writes);
        await table.getMany(reads);
      };
    });
  if (verb === 'read' || verb === 'cached') {
    const maxAgeMs = verb === 'cached' ? CACHED_MS : 0;
    if (group === 1) return records.scattered(way.records).map((key) => () => table.get(key, maxAgeMs));
    return chunks(records.neighbours(way.records), group).map((keys) => () => table.getMany(keys));
  }
  const write = (some: readonly TextRecord[]): Promise<unknown> => {
    if (group === 1) return table.put(some[0]!);
    if (verb === 'write') return table.putMany(some);
    if (table.putInTransaction === undefined) throw new Error('this client has no transactions');
    return table.putInTransaction(some);
  };
  return chunks(records.fresh(way.records, characters), rootEach ?? way.records).flatMap((some) => [
    ...(rootEach === undefined ? [] : records.fresh(1, 1)).map((root) => () => table.put(root)),
    ...chunks(some, group).map((together) => () => write(together)),
  ]);
}

/** The signal ends it after those that are on their way. */
export function sendAll(
  calls: readonly (() => Promise<unknown>)[],
  inFlight: number,
  signal: AbortSignal,
): Promise<void> {
  return eachInFlight(calls, inFlight, (call) => {
    signal.throwIfAborted();
    return call();
  });
}

/** All of one partition, where the provider has partitions: group transactions need that. */
const PARTITION = 'p';

/** The records of one table: some that are there to be read, and new ones to write. */
export class Records {
  readonly #loaded: number;
  #drawn = 0;

  constructor(loaded: number) {
    this.#loaded = loaded;
  }

  /** The records to be read: keys count up. */
  loaded(characters: number): TextRecord[] {
    const textOf = textsOf(characters);
    return Array.from({ length: this.#loaded }, (_, index) => ({ key: loadedKey(index), text: textOf(index) }));
  }

  /** Their keys are in no order, and as long as a GUID. */
  fresh(count: number, characters: number): TextRecord[] {
    const textOf = textsOf(characters);
    return Array.from({ length: count }, () => {
      const number = this.#next();
      const scattered = scramble32(number).toString(16).padStart(8, '0');
      const key = `${PARTITION}:w${scattered}-0000-4000-8000-${String(number).padStart(10, '0')}`;
      return { key, text: textOf(number) };
    });
  }

  /** Keys of loaded ones, far from each other. */
  scattered(count: number): string[] {
    return Array.from({ length: count }, () => loadedKey(scramble32(this.#next()) % this.#loaded));
  }

  /** Keys of loaded ones, in order, from somewhere on; not more than there are. */
  neighbours(count: number): string[] {
    const first = scramble32(this.#next()) % Math.max(1, this.#loaded - count + 1);
    return Array.from({ length: Math.min(count, this.#loaded) }, (_, index) => loadedKey(first + index));
  }

  #next(): number {
    this.#drawn += 1;
    return this.#drawn;
  }
}

function loadedKey(index: number): string {
  return `${PARTITION}:k${String(index).padStart(8, '0')}`;
}

/** Far more than a container's page holds of them: no compression reaches back to the same one. */
const TEXTS = 512;
const pools = new Map<number, readonly string[]>();

/** Words and numbers, so that compression gains what it gains on text; the same ones after 512. */
function textsOf(characters: number): (index: number) => string {
  const random = seededRandom(characters);
  const pool = pools.get(characters) ?? Array.from({ length: TEXTS }, () => text(random, characters));
  pools.set(characters, pool);
  return (index) => pool[index % TEXTS]!;
}

function text(random: () => number, characters: number): string {
  let words = '';
  while (words.length < characters)
    words += `${WORDS[randomInt(random, WORDS.length)]} ${randomInt(random, 18) === 0 ? `${randomInt(random, 1_000_000)} ` : ''}`;
  return words.slice(0, characters);
}
