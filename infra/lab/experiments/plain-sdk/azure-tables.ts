// Plain entities on Azure Table Storage through @azure/data-tables: all in one partition, as in the document, so that group transactions and
// queries over neighbouring keys are possible.
import { AzureNamedKeyCredential, odata, TableClient } from '@azure/data-tables';
import { createDefaultHttpClient, type HttpClient } from '@azure/core-rest-pipeline';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../../emulators/azurite.ts';
import { type MutableSpent, nothingSpent, type PlainSdk, type PlainTable, type TextRecord } from './plain-sdk.ts';

/** Operations in a group transaction, and entities in an answer to a query: the service's limits. */
const TRANSACTION_MAX = 100;
const QUERY_PAGE_MAX = 1_000;

const PARTITION = 'p';

/** On the emulator at `endpoint`; `httpClient` is the SDK's own by default. */
export function azureTablesSdk(
  endpoint: string,
  httpClient: HttpClient = createDefaultHttpClient(),
  close: () => void = () => {},
): PlainSdk {
  const spent = nothingSpent();
  const credential = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);
  const counting = countRequests(httpClient, spent);
  const client = (name: string, http: HttpClient): TableClient =>
    new TableClient(endpoint, name, credential, { allowInsecureConnection: true, httpClient: http });
  return {
    provider: 'azure-tables',
    insertManyMax: TRANSACTION_MAX,
    readManyMax: QUERY_PAGE_MAX,
    open: async (name) => {
      const quiet = client(name, httpClient);
      await quiet.createTable();
      return table(client(name, counting), async () => quiet.deleteTable());
    },
    spent: () => structuredClone(spent),
    close: async () => close(),
  };
}

function table(client: TableClient, drop: () => Promise<void>): PlainTable {
  const insertMany = async (records: readonly TextRecord[]): Promise<void> => {
    await client.submitTransaction(records.map((record) => ['create', entityOf(record)]));
  };
  return {
    insert: async (record) => {
      await client.createEntity(entityOf(record));
    },
    insertMany,
    insertInTransaction: insertMany,
    read: async (key) => (await client.getEntity<{ data: string }>(PARTITION, key)).data.length,
    readMany: async (keys) => {
      const filter = odata`PartitionKey eq ${PARTITION} and RowKey ge ${keys[0]!} and RowKey le ${keys.at(-1)!}`;
      let found = 0;
      for await (const _ of client.listEntities({ queryOptions: { filter } })) found += 1;
      return found;
    },
    drop,
  };
}

/** A request is billed whole, a group transaction too. */
function countRequests(inner: HttpClient, spent: MutableSpent): HttpClient {
  return {
    sendRequest: (request) => {
      spent.requests += 1;
      if (request.method === 'GET') spent.billable.reads += 1;
      else spent.billable.writes += 1;
      return inner.sendRequest(request);
    },
  };
}

function entityOf({ key, text }: TextRecord) {
  return { partitionKey: PARTITION, rowKey: key, data: text };
}
