// @azure/data-tables, one entity per record. The tenant is the partition key, which a batch shares.
import { odata, RestError, type TableClient } from '@azure/data-tables';
import {
  fieldBytes,
  type RecordFields,
  type SampleRecord,
  sizeOf,
  tenantEnd,
  tenantOf,
} from '../work/sample-records.ts';
import { emptyUsage, type MutableUsage } from '../kit/provider-usage.ts';
import { type BaselineTable, BATCHING, placeOf, type SdkBaseline, withTries } from '../work/baseline.ts';

/**
 * One storage account; `tableClient` makes a client for a table, with endpoint and credentials. The
 * SDK's retries keep their default, and a policy in its pipeline counts them.
 */
export function azureTablesBaseline({
  tableClient,
}: {
  readonly tableClient: (tableName: string) => TableClient;
}): SdkBaseline {
  const usage = emptyUsage(true);
  return {
    ...BATCHING['azure-tables'],
    open: async (dataset) => {
      const client = tableClient(placeOf(dataset));
      // The SDK accepts a table that exists. Not counted: no part of the workload.
      await client.createTable();
      countRequests(client, usage);
      return table(client, usage);
    },
    // Deleting a table that is not there is no error to this SDK either.
    remove: async (dataset, signal) => await tableClient(placeOf(dataset)).deleteTable({ abortSignal: signal }),
    usage: () => usage,
    close: async () => {},
  };
}

function table(client: TableClient, usage: MutableUsage): BaselineTable {
  const get = async (key: string): Promise<boolean> => {
    try {
      const fields = await client.getEntity<RecordFields>(tenantOf(key), rowKeyOf(key));
      usage.bytesRead += fieldBytes(fields);
      return true;
    } catch (error) {
      if (error instanceof RestError && error.statusCode === 404) return false;
      throw error;
    }
  };
  return {
    insert: async (record) => {
      usage.bytesWritten += sizeOf(record);
      await client.createEntity(entityOf(record));
    },
    replace: async (record) => {
      usage.bytesWritten += sizeOf(record);
      await client.updateEntity(entityOf(record), 'Replace');
    },
    modify: (record) => withTries(usage, () => modify(client, record, usage)),
    get,
    range: (...asked) => range(client, usage, ...asked),
    putMany: async (records) => {
      for (const record of records) usage.bytesWritten += sizeOf(record);
      await client.submitTransaction(records.map((record) => ['upsert', entityOf(record), 'Replace']));
    },
    getMany: async (keys) => (await Promise.all(keys.map(get))).filter(Boolean).length,
  };
}

/** Replaces on condition of the entity's ETag. */
async function modify(client: TableClient, record: SampleRecord, usage: MutableUsage): Promise<boolean | 'conflict'> {
  try {
    const { etag, ...fields } = await client.getEntity<RecordFields>(tenantOf(record.key), rowKeyOf(record.key));
    usage.bytesRead += fieldBytes(fields);
    usage.bytesWritten += sizeOf(record);
    await client.updateEntity(entityOf(record), 'Replace', { etag });
    return true;
  } catch (error) {
    const status = error instanceof RestError ? error.statusCode : undefined;
    if (status === 412) return 'conflict';
    if (status === 404) return false;
    throw error;
  }
}

/** Reads one page of the partition that both ends are in: a tenant lies in one. */
async function range(
  client: TableClient,
  usage: MutableUsage,
  ...[from, to, count]: Parameters<BaselineTable['range']>
): Promise<number> {
  const [partition, first] = [tenantOf(from), rowKeyOf(from)];
  const filter =
    to === tenantEnd(from)
      ? odata`PartitionKey eq ${partition} and RowKey ge ${first}`
      : odata`PartitionKey eq ${partition} and RowKey ge ${first} and RowKey lt ${rowKeyOf(to)}`;
  const pages = client.listEntities<RecordFields>({ queryOptions: { filter } }).byPage({ maxPageSize: count });
  for await (const page of pages) {
    for (const fields of page) usage.bytesRead += fieldBytes(fields);
    return page.length;
  }
  return 0;
}

/** Counts each attempt, as each is billed: the SDK's retries send the same request again. */
function countRequests(client: TableClient, usage: MutableUsage): void {
  const failures = new WeakMap<object, string>();
  client.pipeline.addPolicy(
    {
      name: 'stowageAttempts',
      sendRequest: async (request, next) => {
        usage.requests++;
        usage.billable[request.method === 'GET' ? 'reads' : 'writes']++;
        // How the attempt before this one of the same call ended.
        const refusal = failures.get(request);
        if (refusal !== undefined) usage.retries![refusal] = (usage.retries![refusal] ?? 0) + 1;
        try {
          const response = await next(request);
          if (response.status >= 400) failures.set(request, String(response.status));
          return response;
        } catch (error) {
          const { code } = error as { code?: unknown };
          failures.set(request, typeof code === 'string' ? code : 'unknown');
          throw error;
        }
      },
    },
    { afterPhase: 'Retry' },
  );
}

function entityOf({ key, fields }: SampleRecord) {
  return { partitionKey: tenantOf(key), rowKey: rowKeyOf(key), ...fields };
}

function rowKeyOf(key: string): string {
  return key.slice(tenantOf(key).length + 1);
}
