// A record read and replaced on condition of what was read, by each plain SDK as its users write it: the counterpart of this store's conditional
// put. On the comparison's entities, so that a baseline's records can be replaced.
import type { TableClient } from '@azure/data-tables';
import { Datastore, type DatastoreOptions } from '@google-cloud/datastore';
import { tenantOf } from '../../../../shared/lab/work/keys.ts';
import type { SampleRecord } from '../../../../shared/lab/work/records.ts';

export interface ConditionalReplace {
  /** Rejects with the SDK's error, of a conflict too. */
  replace(record: SampleRecord): Promise<void>;
  close(): Promise<void>;
}

/** A transaction: begin, lookup, commit. */
export function datastoreConditional(options: DatastoreOptions, kind: string): ConditionalReplace {
  const datastore = new Datastore(options);
  return {
    replace: async (record) => {
      const key = datastore.key([kind, record.key]);
      const transaction = datastore.transaction();
      await transaction.run();
      await transaction.get(key);
      transaction.update({ key, data: record.fields, excludeFromIndexes: ['notes'] });
      await transaction.commit();
    },
    close: async () => {
      const clients = [...datastore['clients_'].values()] as unknown as { close(): Promise<void> }[];
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

/** A read, and a replacement on condition of its etag. */
export function azureConditional(client: TableClient): ConditionalReplace {
  return {
    replace: async ({ key, fields }) => {
      const partitionKey = tenantOf(key);
      const rowKey = key.slice(partitionKey.length + 1);
      const { etag } = await client.getEntity(partitionKey, rowKey);
      await client.updateEntity({ partitionKey, rowKey, ...fields }, 'Replace', { etag });
    },
    close: async () => {},
  };
}
