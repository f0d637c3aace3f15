// @google-cloud/datastore, one entity per record. It reads `../protos/app_engine_key.proto` as it
// starts, which a bundle must put there.
import { Datastore, type DatastoreOptions, PropertyFilter } from '@google-cloud/datastore';
import { chunks } from '../kit/numbers.ts';
import { fieldBytes, type RecordFields, type SampleRecord, sizeOf, unindexedIn } from '../work/sample-records.ts';
import { emptyUsage, type MutableUsage } from '../kit/provider-usage.ts';
import { type BaselineTable, BATCHING, placeOf, type SdkBaseline, withTries } from '../work/baseline.ts';

const COMMIT_MAX = BATCHING.datastore.putManyMax;

/** Entities per query when a kind is removed; their 16 commits are sent in parallel. */
const REMOVAL_PAGE = 16 * COMMIT_MAX;

/** One project and namespace. The client does not show its retries, so `retries` is null. */
export function datastoreBaseline(options: DatastoreOptions): SdkBaseline {
  const datastore = new Datastore(options);
  const usage = emptyUsage(false);
  return {
    ...BATCHING.datastore,
    open: async (dataset) => kind(datastore, placeOf(dataset), usage),
    remove: (dataset, signal) => removeKind(datastore, placeOf(dataset), signal),
    usage: () => usage,
    close: async () => {
      // The client has no close; the gRPC clients under it have.
      const clients = [...datastore['clients_'].values()] as unknown as { close(): Promise<void> }[];
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

type DatastoreKey = ReturnType<Datastore['key']>;

/** Datastore cannot drop a kind: queries keys and deletes their entities until none is left. */
async function removeKind(datastore: Datastore, name: string, signal: AbortSignal): Promise<void> {
  const query = datastore.createQuery(name).select('__key__').limit(REMOVAL_PAGE);
  for (;;) {
    signal.throwIfAborted();
    const [entities] = (await datastore.runQuery(query)) as unknown as [Record<symbol, DatastoreKey>[]];
    if (entities.length === 0) return;
    const keys = entities.map((entity) => entity[datastore.KEY]!);
    await Promise.all(chunks(keys, COMMIT_MAX).map((some) => datastore.delete(some)));
  }
}

function kind(datastore: Datastore, name: string, usage: MutableUsage): BaselineTable {
  const entityOf = ({ key, fields }: SampleRecord) => ({
    key: datastore.key([name, key]),
    data: fields,
    excludeFromIndexes: unindexedIn(fields),
  });
  const countWrites = (records: readonly SampleRecord[]): void => {
    usage.requests++;
    usage.billable.writes += records.length;
    for (const record of records) usage.bytesWritten += sizeOf(record);
  };
  const lookup = async (keys: readonly string[]): Promise<number> => {
    usage.requests++;
    usage.billable.reads += keys.length;
    const [entities] = (await datastore.get(keys.map((key) => datastore.key([name, key])))) as [RecordFields[]];
    for (const fields of entities) usage.bytesRead += fieldBytes(fields);
    return entities.length;
  };
  return {
    insert: async (record) => {
      countWrites([record]);
      await datastore.insert(entityOf(record));
    },
    replace: async (record) => {
      countWrites([record]);
      await datastore.upsert(entityOf(record));
    },
    modify: (record) => withTries(usage, () => modify(datastore, entityOf(record), sizeOf(record), usage)),
    get: async (key) => (await lookup([key])) === 1,
    range: async (from, to, count) => {
      const [first, behind] = [datastore.key([name, from]), datastore.key([name, to])];
      const query = datastore
        .createQuery(name)
        .filter(new PropertyFilter('__key__', '>=', first))
        .filter(new PropertyFilter('__key__', '<', behind))
        .order('__key__')
        .limit(count);
      return counted((await datastore.runQuery(query)) as unknown as [RecordFields[]], usage);
    },
    putMany: async (records) => {
      countWrites(records);
      await datastore.upsert(records.map(entityOf));
    },
    getMany: lookup,
  };
}

function counted([entities]: [RecordFields[]], usage: MutableUsage): number {
  usage.requests++;
  usage.billable.reads += entities.length;
  for (const fields of entities) usage.bytesRead += fieldBytes(fields);
  return entities.length;
}

/** The code of gRPC's ABORTED: another transaction was quicker. */
const ABORTED = 10;

/** The lookup begins the transaction: one request less. Google's emulator fails at that. */
async function modify(
  datastore: Datastore,
  entity: { readonly key: DatastoreKey; readonly data: RecordFields },
  bytes: number,
  usage: MutableUsage,
): Promise<boolean | 'conflict'> {
  const transaction = datastore.transaction();
  usage.requests += 2;
  usage.billable.reads += 1;
  try {
    const [fields] = (await transaction.get(entity.key)) as [RecordFields | undefined];
    if (fields === undefined) {
      await transaction.rollback();
      return false;
    }
    usage.bytesRead += fieldBytes(fields);
    transaction.save(entity);
    usage.billable.writes += 1;
    usage.bytesWritten += bytes;
    await transaction.commit();
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === ABORTED) return 'conflict';
    throw error;
  }
}
