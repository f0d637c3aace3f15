// A table in containers, and the same records with an entity each, through the same driver.
import type { Driver, EntityId, EntityVersion, PartName, Write } from '../../store/index.ts';
import { openStore } from '../../store/index.ts';
import { chunks } from '../kit/chunks.ts';

export interface Item {
  readonly key: string;
  readonly value: string;
}

/** Opens the table as a new process, whose memory holds nothing of it. */
export type Open = (driver: Driver) => Promise<Layout>;

export interface Layout {
  get(key: string): Promise<unknown>;
  getMany(keys: readonly string[]): Promise<unknown>;
  /** The records of these keys, which follow each other. */
  scan(keys: readonly string[]): Promise<unknown>;
  firstKey(first: string): Promise<unknown>;
  put(item: Item): Promise<unknown>;
  putMany(items: readonly Item[]): Promise<unknown>;
  /** Undefined where the driver's contract has no call for it. */
  readonly count: (() => Promise<unknown>) | undefined;
}

export const packed: Open = async (driver) => {
  const table = await openStore({ driver }).table<string>('growth', { order: 'key' });
  return {
    get: (key) => table.get(key),
    getMany: (keys) => table.getMany(keys),
    scan: ([from, ...others]) => Array.fromAsync(table.scan({ from: from!, limit: 1 + others.length })),
    firstKey: () => Array.fromAsync(table.keys({ limit: 1 })),
    put: ({ key, value }) => table.put(key, value),
    putMany: (items) => table.putMany(items),
    count: () => table.count(),
  };
};

const TIMEOUT = { timeoutMs: 30_000 };
const PART = 'p0' as PartName;

/**
 * It knows all versions, so that a put takes one request as one without a condition does. A scan is
 * counted as one request, as a query is.
 */
export const plain: Open = async (driver) => {
  const versions = new Map<string, EntityVersion>();
  const { readsMax, writesMax, writeBytesMax } = driver.limits;
  const getMany = async (keys: readonly string[]) => {
    for (const some of chunks([...new Set(keys)], readsMax)) {
      const requests = some.map((key) => ({ id: key as EntityId, parts: 'all' as const }));
      for (const entity of await driver.read(requests, TIMEOUT)) Buffer.from(entity!.parts.get(PART)!).toString();
    }
  };
  const putMany = async (items: readonly Item[]) => {
    const { length: bytes } = items[0]!.value;
    for (const some of chunks(items, Math.min(writesMax, Math.floor(writeBytesMax / bytes)))) {
      const outcomes = await driver.write(some.map((item) => writeOf(item, versions.get(item.key))), TIMEOUT);
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.kind !== 'written') throw new Error('an entity was not written', { cause: outcome });
        versions.set(some[at]!.key, outcome.version);
      }
    }
  };
  return {
    get: (key) => getMany([key]),
    getMany,
    scan: getMany,
    firstKey: (first) => driver.read([{ id: first as EntityId, parts: [] }], TIMEOUT),
    put: (item) => putMany([item]),
    putMany,
    count: undefined,
  };
};

function writeOf({ key, value }: Item, version: EntityVersion | undefined): Write {
  const [id, chunksBefore] = [key as EntityId, version === undefined ? 0 : 1];
  const parts = [{ name: PART, bytes: Buffer.from(value), chunksBefore }];
  return version === undefined ? { kind: 'insert', id, parts } : { kind: 'replace', id, version, parts };
}
