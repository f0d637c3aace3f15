// A table of Azure as plain entities, by Microsoft's client, and its types as values of records. A
// listing is read as text: the client turns 1.0 into 1.
import type { TableClient, TableEntity, TransactionAction } from '@azure/data-tables';
import {
  about,
  instantOf,
  keyTemplate,
  notedKey,
  PlainError,
  type PlainOptions,
  type PlainPage,
  type PlainPlace,
  type PlainRecord,
  requestsOf,
  type SideType,
  type Taken,
  takenApart,
  takenDouble,
  takenInstant,
  valueOf,
  withTries,
} from './plain-place.ts';

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
  const own = notedKey(value) ?? ownKeyIn(key);
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

const INT32_MOST = 2 ** 31 - 1;
/** Names of the service's own. */
const SYSTEM = new Set(['PartitionKey', 'RowKey', 'Timestamp']);
const NANOS_PER_TICK = 100;

/** An entity as the service sends it, with types beside the values that JSON cannot tell apart. */
type AzureJson = Readonly<Record<string, unknown>>;

/** A number that the JSON has with a point or an exponent, so it is a double. */
class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Parses a page of a listing. `1.0` is another type than `1`, which JSON.parse would lose. */
function parsePage(text: string): readonly AzureJson[] {
  const parsed = JSON.parse(text, (_, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && /[.eE]/.test(context?.source ?? '') ? new Double(value) : value,
  ) as { readonly value?: unknown };
  if (!Array.isArray(parsed.value)) throw new PlainError('the service answered a listing without entities');
  return parsed.value as AzureJson[];
}

function takenProperties(entity: AzureJson): [string, Taken][] {
  return Object.entries(entity)
    .filter(([name]) => !SYSTEM.has(name) && !name.includes('odata.'))
    .map(([name, value]) => [name, takenValue(value, entity[`${name}@odata.type`])]);
}

function takenValue(value: unknown, type: unknown): Taken {
  switch (type) {
    case undefined:
    case 'Edm.String':
    case 'Edm.Boolean':
    case 'Edm.Int32':
      return value instanceof Double ? takenDouble(value.value) : { value };
    case 'Edm.Double':
      return takenDouble(value instanceof Double ? value.value : Number(value));
    case 'Edm.Int64': {
      const exact = BigInt(String(value));
      return Number.isSafeInteger(Number(exact)) ? { value: Number(exact), type: 'int64' } : { value: exact };
    }
    case 'Edm.Guid':
      return { value, type: 'guid' };
    case 'Edm.Binary':
      return { value: new Uint8Array(Buffer.from(String(value), 'base64')) };
    case 'Edm.DateTime':
      return takenInstant(instantOf(value));
    default:
      throw new PlainError(`it has a value of the type ${String(type)}, which Azure Tables did not have`);
  }
}

/** Throws a PlainError that names the property. */
export function azureEntity(value: unknown, partitionKey: string, rowKey: string): TableEntity {
  const { properties, side } = takenApart(value);
  const made = properties.map(([name, one]) =>
    about(name, () => {
      if (SYSTEM.has(name)) throw new PlainError('Azure Tables keeps this name for itself');
      return [name, azureValue(one, side.types?.[name])] as const;
    }),
  );
  return { ...Object.fromEntries(made), partitionKey, rowKey };
}

function azureValue(value: unknown, type: SideType | object | undefined): unknown {
  if (type === 'guid') return { type: 'Guid', value };
  if (type === 'timestamp' || value instanceof Date) return { type: 'DateTime', value: dateTime(value) };
  if (typeof value === 'boolean' || typeof value === 'string' || value instanceof Uint8Array) return value;
  if (typeof value === 'bigint') return { type: 'Int64', value: String(value) };
  if (typeof value === 'number') return azureNumber(value, type);
  const what = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object';
  throw new PlainError(`${what} has no type in Azure Tables: put it there as text`);
}

function azureNumber(value: number, type: unknown): unknown {
  if (type === 'double' || !Number.isInteger(value) || Object.is(value, -0))
    return { type: 'Double', value: Number.isFinite(value) && !Object.is(value, -0) ? value : spelled(value) };
  const isInt64 = type === 'int64' || Math.abs(value) > INT32_MOST;
  return isInt64 ? { type: 'Int64', value: String(BigInt(value)) } : { type: 'Int32', value };
}

/** A double that JSON has no number for, as the service writes it. */
function spelled(value: number): string {
  return Object.is(value, -0) ? '-0.0' : Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
}

/** To 100 ns, as finely as the service keeps it. */
function dateTime(value: unknown): string {
  const { seconds, nanos } = instantOf(value);
  if (nanos % NANOS_PER_TICK !== 0) throw new PlainError(`${String(value)} is finer than the 100 ns that Azure keeps`);
  const fraction = String(nanos / NANOS_PER_TICK).padStart(7, '0');
  return new Date(Number(seconds) * 1_000).toISOString().replace(/\.\d+Z$/, `.${fraction}Z`);
}
