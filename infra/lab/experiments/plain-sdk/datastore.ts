// Plain entities on Datastore through its high-level client. The text is kept out of the indexes, as an indexed one may have 1,500 bytes.
import { Datastore, Key } from '@google-cloud/datastore';
import { type MutableSpent, nothingSpent, type PlainSdk, type PlainTable, type TextRecord } from './plain-sdk.ts';

/** The customary size of a commit, and the service's limit of keys in a lookup. */
const COMMIT_MAX = 500;
const LOOKUP_MAX = 1_000;

const UNINDEXED = ['data'];

/** Channels to one address share a connection unless told not to. */
const CONNECTION = { projectId: 'stowage-experiments', 'grpc.use_local_subchannel_pool': 1 };

/** On the emulator at `endpoint`, through so many clients in turn: each has one connection, which carries all of its requests. */
export function datastoreSdk(endpoint: string, clients = 1): PlainSdk {
  const spent = nothingSpent();
  const datastores = Array.from({ length: clients }, () => new Datastore({ ...CONNECTION, apiEndpoint: endpoint }));
  let calls = 0;
  const next = (): Datastore => datastores[(calls += 1) % clients]!;
  return {
    provider: 'datastore',
    insertManyMax: COMMIT_MAX,
    readManyMax: LOOKUP_MAX,
    open: async (name) => kind(name, next, spent),
    spent: () => structuredClone(spent),
    close: async () => {
      await Promise.all(datastores.map(closeClient));
    },
  };
}

function kind(name: string, next: () => Datastore, spent: MutableSpent): PlainTable {
  const keyOf = (key: string) => new Key({ path: [name, key] });
  const entityOf = ({ key, text }: TextRecord) => ({
    key: keyOf(key),
    data: { data: text },
    excludeFromIndexes: UNINDEXED,
  });
  const countWrites = (entities: number, requests: number): void => {
    spent.requests += requests;
    spent.billable.writes += entities;
  };
  const lookup = async (keys: readonly string[]): Promise<{ data: string }[]> => {
    spent.requests += 1;
    spent.billable.reads += keys.length;
    const [entities] = (await next().get(keys.map(keyOf))) as [{ data: string }[]];
    return entities;
  };
  const insertMany = async (records: readonly TextRecord[]): Promise<void> => {
    countWrites(records.length, 1);
    await next().insert(records.map(entityOf));
  };
  return {
    insert: (record) => insertMany([record]),
    insertMany,
    insertInTransaction: async (records) => {
      countWrites(records.length, 2);
      const transaction = next().transaction();
      await transaction.run();
      transaction.insert(records.map(entityOf));
      await transaction.commit();
    },
    read: async (key) => {
      const [entity] = await lookup([key]);
      if (entity === undefined) throw new Error(`there is no entity ${key}`);
      return entity.data.length;
    },
    readMany: async (keys) => (await lookup(keys)).length,
    // A kind cannot be dropped, and the emulator ends with the experiment.
    drop: async () => {},
  };
}

/** The client has no close of its own; these are the gRPC clients under it. */
async function closeClient(datastore: Datastore): Promise<void> {
  const clients = [...datastore['clients_'].values()] as unknown as { close(): Promise<void> }[];
  await Promise.all(clients.map((client) => client.close()));
}
