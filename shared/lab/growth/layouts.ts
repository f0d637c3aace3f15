// A table in containers, and the same records with an entity each, through the same driver.
import {
  type Driver,
  type EntityId,
  type EntityVersion,
  openStore,
  type PartName,
  type Runtime,
} from '../../store/index.ts';
import { chunks } from '../kit/chunks.ts';

export interface Item {
  readonly key: string;
  readonly value: string;
}

/** Opens the table as a new process, whose memory holds nothing of it. */
export type Open = (place: { readonly driver: Driver; readonly runtime: Runtime }) => Promise<Layout>;

export interface Layout {
  readonly get: (key: string) => Promise<unknown>;
  readonly getMany: (keys: readonly string[]) => Promise<unknown>;
  /** Takes the keys of the records, which follow each other. */
  readonly scan: (keys: readonly string[]) => Promise<unknown>;
  readonly firstKey: (first: string) => Promise<unknown>;
  readonly put: (item: Item) => Promise<unknown>;
  readonly putMany: (items: readonly Item[]) => Promise<unknown>;
  /** Undefined where the driver's contract has no call for it. */
  readonly count: (() => Promise<unknown>) | undefined;
}

export const packed: Open = async (place) => {
  const table = await openStore(place).table<string>('growth', { order: 'key' });
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
 * It knows all versions, so that its put takes one request, as one without a condition does. A scan
 * counts as one request, as a query does.
 */
export const plain: Open = async ({ driver }) => {
  const versions = new Map<string, EntityVersion>();
  const { readsMax, writesMax, writeBytesMax } = driver.limits;
  const getMany = async (keys: readonly string[]): Promise<void> => {
    for (const some of chunks([...new Set(keys)] as EntityId[], readsMax)) {
      const entities = await driver.read(
        some.map((id) => ({ id, parts: 'all' })),
        TIMEOUT,
      );
      for (const entity of entities) Buffer.from(entity!.parts.get(PART)!).toString();
    }
  };
  const writeOf = ({ key, value }: Item) => {
    const version = versions.get(key);
    const [id, chunksBefore] = [key as EntityId, version === undefined ? 0 : 1];
    const parts = [{ name: PART, bytes: Buffer.from(value), chunksBefore }];
    return version === undefined
      ? ({ kind: 'insert', id, parts } as const)
      : ({ kind: 'replace', id, version, parts } as const);
  };
  const putMany = async (items: readonly Item[]): Promise<void> => {
    for (const some of chunks(items, Math.min(writesMax, Math.floor(writeBytesMax / items[0]!.value.length)))) {
      const outcomes = await driver.write(some.map(writeOf), TIMEOUT);
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
