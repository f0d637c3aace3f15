// Plain entities of every type of both services, written and read without this project's code.
import { type DatastoreClient, type protos } from '@google-cloud/datastore-api';
import { v1 } from '@google-cloud/datastore';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { OAuth2Client } from 'google-auth-library';
import { credentials } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';

type Entity = protos.google.datastore.v1.IEntity;
type Properties = Record<string, protos.google.datastore.v1.IValue>;

export const PROJECT = 'plain-project';
const COMMIT = 500;

export function datastoreClient(host: string): DatastoreClient {
  const [servicePath, port] = host.split(':');
  const at = { servicePath: servicePath!, apiEndpoint: servicePath!, port: Number(port) };
  const authClient = new OAuth2Client();
  const client = new v1.DatastoreClient({
    projectId: PROJECT,
    authClient,
    ...at,
    sslCreds: credentials.createInsecure(),
  });
  onTestFinished(() => client.close());
  return client;
}

/** All of Datastore's types. Every fourth has an ancestor, an id, a name of digits, a name. */
function entityNumber(kind: string, number: number): Entity {
  const partitionId = { projectId: PROJECT, databaseId: '', namespaceId: '' };
  const own = [
    [
      { kind: 'Tenant', name: `t/${number % 7}` },
      { kind, id: String(number + 1) },
    ],
    [{ kind, id: number % 8 === 1 ? '9007199254740993' : String(number + 1) }],
    [{ kind, name: String(number + 1) }],
    [{ kind, name: `name ${number}` }],
  ][number % 4]!;
  if (number % 4 === 1 && number > 1) own[0] = { kind, id: String(number + 1) };
  const key = { partitionId, path: own };
  const properties: Properties = {
    count: { integerValue: String(number) },
    large: { integerValue: '-9223372036854775808' },
    share: { doubleValue: number / 3 },
    whole: { doubleValue: number },
    notANumber: { doubleValue: Number.NaN },
    isOdd: { booleanValue: number % 2 === 1 },
    none: { nullValue: 'NULL_VALUE' },
    text: { stringValue: `é ${number}` },
    long: { stringValue: 'x'.repeat(2_000), excludeFromIndexes: true },
    bytes: { blobValue: Buffer.from([0, 255, number % 256]), excludeFromIndexes: true },
    when: { timestampValue: { seconds: String(1_700_000_000 + number), nanos: 123_000_000 } },
    exact: { timestampValue: { seconds: '-62135596800', nanos: 123_456_000 } },
    place: { geoPointValue: { latitude: -33.5, longitude: 151 } },
    other: {
      keyValue: {
        partitionId,
        path: [
          { kind: 'Tenant', name: '5' },
          { kind: 'User', id: '5' },
        ],
      },
    },
    elsewhere: {
      keyValue: { partitionId: { ...partitionId, namespaceId: 'n' }, path: [{ kind: 'User', name: 'a' }] },
    },
    nested: {
      entityValue: {
        properties: { whole: { doubleValue: 1 }, deep: { stringValue: 'y', excludeFromIndexes: true } },
      },
    },
    list: {
      arrayValue: {
        values: [
          { stringValue: 'a', excludeFromIndexes: true },
          { doubleValue: 2 },
          { integerValue: '2' },
          { entityValue: { properties: { point: { geoPointValue: { latitude: 1, longitude: 2 } } } } },
        ],
      },
    },
    empty: { arrayValue: { values: [] } },
  };
  return { key, properties };
}

export async function writeEntities(client: DatastoreClient, kind: string, count: number) {
  for (let from = 0; from < count; from += COMMIT) {
    const numbers = Array.from({ length: Math.min(COMMIT, count - from) }, (_, index) => from + index);
    const mutations = numbers.map((number) => ({ upsert: entityNumber(kind, number) }));
    await client.commit({ projectId: PROJECT, mode: 'NON_TRANSACTIONAL', mutations });
  }
}

/** The entities of a kind as text, a line each, in order; the kind's own name left out. */
export async function entitiesIn(client: DatastoreClient, kind: string): Promise<string[]> {
  const lines: string[] = [];
  for (let startCursor: string | undefined; ;) {
    const query = { kind: [{ name: kind }], ...(startCursor !== undefined && { startCursor }) };
    const [{ batch }] = await client.runQuery({ projectId: PROJECT, query });
    for (const { entity } of batch?.entityResults ?? []) lines.push(textOf(entity!, kind));
    if (batch?.moreResults !== 'NOT_FINISHED') return lines.toSorted();
    startCursor = Buffer.from(batch.endCursor ?? '').toString('base64');
  }
}

function textOf({ key, properties }: Entity, kind: string): string {
  const path = (key?.path ?? []).map((element) => [
    element.kind === kind ? '' : element.kind,
    element.id ?? null,
    element.name ?? null,
  ]);
  return JSON.stringify([path, inOrder(properties)], (_, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
  );
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value) || value instanceof Uint8Array || typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, inOrder(one)]));
}

export function azureTable(endpoint: string, key: string, name: string): TableClient {
  const credential = new AzureNamedKeyCredential('devstoreaccount1', key);
  return new TableClient(endpoint, name, credential, { allowInsecureConnection: true });
}

/** Rows of every type, 100 in a partition. */
export async function writeRows(client: TableClient, count: number): Promise<void> {
  await client.createTable();
  for (let from = 0; from < count; from += 100) {
    const numbers = Array.from({ length: Math.min(100, count - from) }, (_, index) => from + index);
    await client.submitTransaction(
      numbers.map((number) => [
        'create',
        {
          partitionKey: `p${from}`,
          rowKey: `r ${number}`,
          text: `é ${number}`,
          count: number,
          whole: { type: 'Double', value: '3.0' },
          share: number + 0.5,
          notANumber: { type: 'Double', value: 'NaN' },
          small: { type: 'Int64', value: '5' },
          large: { type: 'Int64', value: '-9223372036854775808' },
          isOdd: number % 2 === 1,
          id: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
          bytes: new Uint8Array([0, 255, number % 256]),
          when: { type: 'DateTime', value: '2024-01-01T00:00:00.1230000Z' },
          exact: { type: 'DateTime', value: '2024-01-01T00:00:00.1234567Z' },
        },
      ]),
    );
  }
}

/** The rows of a table as the service spells them, without etag and timestamp, in order. */
export async function rowsIn(client: TableClient): Promise<string[]> {
  const texts: string[] = [];
  const policy = {
    name: 'texts',
    async sendRequest(
      request: Parameters<NonNullable<Parameters<TableClient['pipeline']['addPolicy']>[0]>['sendRequest']>[0],
      next: (one: typeof request) => Promise<{ bodyAsText?: string | null }>,
    ) {
      const reply = await next(request);
      if (request.method === 'GET') texts.push(reply.bodyAsText ?? '');
      return reply as never;
    },
  };
  client.pipeline.addPolicy(policy);
  for await (const _ of client.listEntities().byPage()) continue;
  client.pipeline.removePolicy({ name: policy.name });
  return texts
    .flatMap((text) => (JSON.parse(text, asSpelled) as { readonly value: readonly object[] }).value)
    .map((row) => Object.entries(row).filter(([name]) => !/^(odata\.etag|Timestamp)$/.test(name)))
    .map((members) => JSON.stringify(members.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .toSorted();
}

/** Numbers as the text has them: `3.0` is another type than `3`. */
function asSpelled(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? `number ${context?.source}` : value;
}
