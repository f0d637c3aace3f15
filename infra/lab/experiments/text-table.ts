// Records of a key and one text, on the plain SDK or this store. Work not wholly done is an error.
import type { Baseline, SdkTable } from '../../../shared/lab/work/baseline.ts';
import type { SampleRecord } from '../../../shared/lab/work/records.ts';
import { tenantEnd } from '../../../shared/lab/work/keys.ts';
import type { Table } from '../../../shared/store/index.ts';

export interface TextRecord {
  readonly key: string;
  readonly text: string;
}

export interface TextTable {
  /** The record is new. */
  put(record: TextRecord): Promise<unknown>;
  putMany(records: readonly TextRecord[]): Promise<void>;
  putInTransaction?(records: readonly TextRecord[]): Promise<void>;
  get(key: string, maxAgeMs: number): Promise<void>;
  /** The keys are neighbours in order. */
  getMany(keys: readonly string[]): Promise<void>;
}

/** Entities of one property. Without a batched get, a query reads from the first key on. */
export function sdkTable({ getManyMax }: Baseline, table: SdkTable): TextTable {
  return {
    put: (record) => table.insert(plainOf(record)),
    putMany: (records) => table.putMany(records.map(plainOf)),
    putInTransaction: (records) => table.putInTransaction(records.map(plainOf)),
    get: async (key) => allFound(Number(await table.get(key)), 1),
    getMany: async (keys) => {
      const [first] = keys as [string];
      const found = getManyMax > 1 ? table.getMany(keys) : table.range(first, tenantEnd(first), keys.length);
      allFound(await found, keys.length);
    },
  };
}

/** One property, which is in no index, where the comparison's records have more. */
function plainOf({ key, text }: TextRecord): SampleRecord {
  return { key, fields: { notes: text } };
}

export function storeTable(table: Table<string>): TextTable {
  return {
    put: ({ key, text }) => table.put(key, text),
    putMany: async (records) => {
      const outcomes = await table.putMany(records.map(({ key, text }) => ({ key, value: text })));
      for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
    },
    get: async (key, maxAgeMs) => allFound((await table.get(key, { maxAgeMs })) === undefined ? 0 : 1, 1),
    getMany: async (keys) => {
      const outcomes = await table.getMany(keys);
      for (const outcome of outcomes) if (outcome.status === 'failed') throw outcome.error;
      allFound(outcomes.filter(({ status }) => status === 'found').length, keys.length);
    },
  };
}

function allFound(found: number, wanted: number): void {
  if (found !== wanted) throw new Error(`${found} of ${wanted} records were found`);
}
