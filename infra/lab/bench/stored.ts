// Bytes that a record takes in storage, ours against an entity of its own, each by its service's published formula, index entries included.
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { type Driver, openStore } from '../../../shared/store/index.ts';
import { Sample } from './contest/sample.ts';
import { datastoreKindEntryBytes, plainBytes, unindexedBytes } from './contest/stored-bytes.ts';
import type { BenchProvider } from './providers.ts';

const KIND = 'Container';
const CALL = { timeoutMs: 30_000 };

/** Bytes a record. */
export interface StoredBytes {
  readonly provider: Provider;
  readonly ours: number;
  /** As an entity of its own, with the index entries that its fields have by default. */
  readonly theirs: number;
  /** Without these: all fields kept out of the indexes. */
  readonly theirsUnindexed: number;
}

/** Writes the contests' records into a table of its own, in 20 calls, and weighs every entity that comes of it. */
export async function weighStored(bench: BenchProvider): Promise<StoredBytes> {
  const { provider } = bench;
  const records = new Sample().records();
  const driver = bench.driver('weighed');
  const store = openStore({ driver });
  try {
    const table = await store.table('weighed');
    const perCall = Math.ceil(records.length / 20);
    for (let first = 0; first < records.length; first += perCall) {
      const items = records.slice(first, first + perCall).map(({ key, fields }) => ({ key, value: fields }));
      await table.putMany(items);
    }
    const sizes = await entitySizes(driver, provider === 'datastore');
    const mean = (bytes: readonly number[]): number => sum(bytes) / records.length;
    return {
      provider,
      ours: mean(sizes),
      theirs: mean(records.map((record) => plainBytes(provider, KIND, record))),
      theirsUnindexed: mean(records.map((record) => unindexedBytes(provider, KIND, record))),
    };
  } finally {
    await store.close();
  }
}

/** Sizes by the driver's own count, which allows for the longest id, plus the kind's index entry where there is one. */
export async function entitySizes(driver: Driver, hasKindIndex: boolean): Promise<number[]> {
  const { limits } = driver;
  const sizes: number[] = [];
  let cursor: Parameters<Driver['list']>[1];
  do {
    const page = await driver.list('', cursor, limits.listMax, CALL);
    for (const id of page.ids) {
      const [entity] = await driver.read([{ id, parts: 'all' }], CALL);
      if (entity === undefined) continue;
      const parts = [...entity.parts.values()].map(
        ({ length }) => length + Math.ceil(length / limits.chunkBytes) * limits.chunkOverheadBytes,
      );
      sizes.push(limits.entityOverheadBytes + sum(parts) + (hasKindIndex ? datastoreKindEntryBytes(KIND, id) : 0));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sizes;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
