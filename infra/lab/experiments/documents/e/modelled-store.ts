// This store's operations of document E on a modelled provider.
import { seededRandom } from '../../../../../shared/lab/kit/random.ts';
import { datasetOf, TABLE } from '../../../../../shared/lab/cloud/run/datasets.ts';
import { modelledLimits } from '../../../../../shared/lab/cloud/service/driver.ts';
import type { DocumentOptions, DocumentRun } from '../../../../../shared/lab/plan/modelled/documents.ts';
import { valueSource } from '../../../../../shared/lab/cloud/work/values.ts';
import type { PutItem, Table } from '../../../../../shared/store/index.ts';
import { onModelledStore } from '../../modelled-store.ts';
import { PUBLISHED } from '../../published/published.ts';
import { cellOf } from './operations.ts';

export const STORE_OPERATIONS = ['put', 'putMany', 'get', 'getMany'] as const;

const CALLED = { put: 'put', putMany: 'putManyRecord', get: 'get', getMany: 'getManyRecord' } as const;

/** As on the emulators. */
const LOADED = 10_000;
const BYTES = 500;
/** Coprime to the number of records: visits them far apart. */
const STRIDE = 7_919;
/** The same table for all runs. */
const DATA_SEED = 1;

/** The store's rows by id, in milliseconds, on a table of 10,000 records that it has read before. */
export async function storeE(options: DocumentOptions): Promise<DocumentRun> {
  const limits = modelledLimits(options.parameters.data.provider);
  const { state, keyOf } = await datasetOf({ records: LOADED, recordBytes: BYTES, limits, seed: DATA_SEED });
  const fresh = freshItems(options.seed);
  const keys = (count: number, stride: number): string[] =>
    Array.from({ length: count }, (_, index) => keyOf((index * stride) % LOADED));
  const run = new Map<string, number>();
  const stored = { state, name: TABLE, options: { order: 'key', codec: 'bytes' } } as const;
  await onModelledStore<Uint8Array>(options, stored, async (table, timed) => {
    await getAll(table, keys(LOADED, 1));
    for (const count of PUBLISHED.gae_operations_2011.records) {
      const [singles, batch] = [fresh(count), fresh(count)];
      const work: Readonly<Record<(typeof STORE_OPERATIONS)[number], () => Promise<void>>> = {
        get: () => getEach(table, keys(count, STRIDE)),
        getMany: () => getAll(table, keys(count, 1)),
        put: () => putEach(table, singles),
        putMany: () => putAll(table, batch),
      };
      for (const name of STORE_OPERATIONS)
        run.set(cellOf(name, count), await timed({ operation: CALLED[name], count }, work[name]));
    }
  });
  return run;
}

/** Makes new records, of keys in no order behind those that are there. */
function freshItems(seed: number): (count: number) => PutItem<Uint8Array>[] {
  const random = seededRandom(seed);
  const valueOf = valueSource(DATA_SEED, BYTES);
  return (count) => Array.from({ length: count }, (_, index) => ({ key: `w${random()}`, value: valueOf(index, seed) }));
}

async function getEach(table: Table<Uint8Array>, keys: readonly string[]): Promise<void> {
  for (const key of keys) if ((await table.get(key)) === undefined) throw new Error(`there is no record ${key}`);
}

async function getAll(table: Table<Uint8Array>, keys: readonly string[]): Promise<void> {
  for (const outcome of await table.getMany(keys)) {
    if (outcome.status === 'failed') throw outcome.error;
    if (outcome.status === 'absent') throw new Error(`there is no record ${outcome.key}`);
  }
}

async function putEach(table: Table<Uint8Array>, items: readonly PutItem<Uint8Array>[]): Promise<void> {
  for (const { key, value } of items) await table.put(key, value);
}

async function putAll(table: Table<Uint8Array>, items: readonly PutItem<Uint8Array>[]): Promise<void> {
  for (const outcome of await table.putMany(items)) if (outcome.status === 'failed') throw outcome.error;
}
