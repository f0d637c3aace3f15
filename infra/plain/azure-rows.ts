// A table of Azure by Microsoft's client. A listing is read as text: the client turns 1.0 into 1.
import type { TableClient, TableEntity, TransactionAction } from '@azure/data-tables';
import { azureEntity, type AzureJson, Double, parsePage, takenProperties } from './azure-values.ts';
import { keyTemplate } from './key-template.ts';
import { PlainError, type PlainOptions, type PlainPage, type PlainPlace, type PlainRecord } from './plain-place.ts';
import { about, valueOf } from './side.ts';
import { requestsOf, withTries } from './tries.ts';

const PAGE_ENTITIES = 1_000;
/** As many as a transaction takes, of one partition, and fewer bytes than its 4 MiB. */
const TRANSACTION = { itemsMax: 100, bytesMax: 2 * 1024 * 1024 };
/** Requests of one `put` that are under way at once. */
const SIDE_BY_SIDE = 8;

const KEY_DEFAULT = '{PartitionKey}/{RowKey}';

/** Takes over the client: it keeps the text of the last reply. */
export function azurePlace(client: TableClient, options: PlainOptions): PlainPlace {
  let lastListing = '';
  client.pipeline.addPolicy({
    name: 'stowageListings',
    async sendRequest(request, next) {
      const reply = await next(request);
      if (request.method === 'GET') lastListing = reply.bodyAsText ?? '';
      return reply;
    },
  });
  const keyOf = keyTemplate(options.key ?? KEY_DEFAULT);

  const recordOf = (entity: AzureJson): PlainRecord => {
    const own = [String(entity['PartitionKey']), String(entity['RowKey'])];
    return about(`the entity ${own.join('/')}`, () => {
      const key = keyOf((name) => partOf(entity, name));
      const [partitionKey, rowKey] = ownKeyIn(key) ?? [];
      const tellsItself = partitionKey === own[0] && rowKey === own[1];
      return { key, value: valueOf(takenProperties(entity), tellsItself ? undefined : own) };
    });
  };

  async function* pages(cursor: string | undefined, signal: AbortSignal): AsyncGenerator<PlainPage, void> {
    const queryOptions = options.where === undefined ? {} : { queryOptions: { filter: options.where } };
    for (let continuationToken = cursor; ;) {
      const from = { maxPageSize: PAGE_ENTITIES, ...(continuationToken !== undefined && { continuationToken }) };
      const list = () => client.listEntities({ ...queryOptions, abortSignal: signal }).byPage(from);
      const { value, done } = await withTries(() => list().next(), signal, isTransient);
      if (done === true) return;
      continuationToken = value.continuationToken;
      yield { records: parsePage(lastListing).map(recordOf), cursor: continuationToken };
      if (continuationToken === undefined) return;
    }
  }

  const put = async (records: readonly PlainRecord[], signal: AbortSignal): Promise<void> => {
    const entities = records.map((record) => about(JSON.stringify(record.key), () => entityFor(record)));
    const partitions = [...Map.groupBy(entities, ({ partitionKey }) => partitionKey).values()];
    const transactions = partitions.flatMap((rows) => [...requestsOf(rows, sizeOf, TRANSACTION)]);
    const write = async (): Promise<void> => {
      for (let next = transactions.pop(); next !== undefined; next = transactions.pop()) {
        const actions = next.map((entity): TransactionAction => ['upsert', entity, 'Replace']);
        await withTries(() => client.submitTransaction(actions, { abortSignal: signal }), signal, isTransient);
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, write));
  };

  return { pages, put, close: () => Promise.resolve() };
}

function partOf(entity: AzureJson, name: string): unknown {
  const part = entity[name];
  if (entity[`${name}@odata.type`] === 'Edm.Int64') return BigInt(String(part));
  return part instanceof Double ? undefined : part;
}

/** The partition and row of a record whose key names both; undefined if it names no two. */
function ownKeyIn(key: string): readonly [string, string] | undefined {
  const [partitionKey = '', rowKey = '', ...more] = key.split('/');
  return more.length === 0 ? [partitionKey, rowKey] : undefined;
}

function entityFor({ key, value }: PlainRecord): TableEntity {
  const noted = (value as { readonly $plain?: { readonly key?: readonly unknown[] } }).$plain?.key;
  const own = noted ?? ownKeyIn(key);
  if (own?.length !== 2)
    throw new PlainError('its key holds more than one "/": Azure Tables takes PARTITION/ROW, and neither may hold one');
  return azureEntity(value, String(own[0]), String(own[1]));
}

/** About as many bytes as the entity takes in a request, binary ones in base64. */
function sizeOf(entity: TableEntity): number {
  return Object.entries(entity).reduce((sum, [name, value]) => {
    const bytes = value instanceof Uint8Array ? (value.length * 4) / 3 : Buffer.byteLength(String(value));
    return sum + 64 + 2 * name.length + bytes;
  }, 256);
}

function isTransient(error: unknown): boolean {
  const { statusCode, code } = error as { readonly statusCode?: number; readonly code?: string };
  return statusCode === undefined ? code === 'REQUEST_SEND_ERROR' : [408, 429, 500, 502, 503, 504].includes(statusCode);
}
