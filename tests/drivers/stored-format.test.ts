// Fixed writes store exactly the entities of golden/, which were made by FORMAT.md without the
// drivers. The provider's own client reads them.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startStrictAzurite } from '../../infra/emulators/azurite.ts';
import { LIMITS as AZURE_LIMITS } from '../../shared/drivers/azure-tables/row-keys.ts';
import { propertyOf } from '../../shared/drivers/datastore/entity-mapping.ts';
import type { Driver, EntityId, PartName } from '../../shared/store/contract/driver.ts';
import {
  CALL,
  insert,
  part,
  patch,
  readOne,
  replace,
  textOf,
  written,
} from '../../shared/drivers/conformance/check-calls.ts';
import { PROJECT_ID, serviceAt } from '../infra/emulators/datastore/protocol-service.ts';
import { entityId, partName } from '../support/ids.ts';
import { azureAt, datastoreAt, type Transport, TRANSPORTS } from './emulated.ts';

const ROOT = entityId('t!orders!');
const NODES = 'n!orders!00112233aabbccdd!';
const NODE = entityId(`${NODES}0123456789abcdef`);
/** In one partition of Azure. */
const NEIGHBOURS = [entityId(`${NODES}0000000000000000`), entityId(`${NODES}0000000000000097`)] as const;
/** The entity of FORMAT.md's worked example. */
const EXAMPLE = entityId('t!t!');

const COMMIT = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const LARGE = Uint8Array.from({ length: 140_000 }, (_, at) => at * 31 + 7);

const FORMAT = readFileSync(new URL('../../shared/store/format/FORMAT.md', import.meta.url), 'utf8');

/** An entity as the provider's own client gives it, its properties in hexadecimal. */
type Stored = Readonly<Record<string, unknown>> & { readonly properties: Readonly<Record<string, string>> };

interface Provider {
  readonly driver: Driver;
  readonly stored: (id: EntityId) => Promise<Stored>;
  /** Puts the entity of FORMAT.md's example there, past the driver. */
  readonly putExample: () => Promise<void>;
}

function shown(bytes: Uint8Array): string {
  if (bytes.length <= 64) return Buffer.from(bytes).toString('hex');
  return `${bytes.length} bytes, sha256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The example's entity in the section of FORMAT.md with this heading. */
function exampleOn(heading: string): unknown {
  const section = FORMAT.slice(FORMAT.indexOf(`## ${heading}`));
  return JSON.parse(/```json\n([\s\S]*?)```/.exec(section)?.[1] ?? '');
}

/** The parts of the worked example, as the page writes them for every provider. */
function exampleParts(): Map<PartName, Uint8Array> {
  const block = /## Worked example[\s\S]*?```\n([\s\S]*?)```/.exec(FORMAT)?.[1] ?? '';
  return new Map(
    [...block.matchAll(/^(\w+)\n((?: {4}.*\n)+)/gm)].map(([, name = '', hex = '']) => [
      partName(name),
      Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'),
    ]),
  );
}

const azurite = await startStrictAzurite();
const opened = new Set<{ close(): unknown }>([azurite]);
afterAll(async () => {
  for (const each of [...opened].reverse()) await each.close();
});

interface AzureExample {
  readonly PartitionKey: string;
  readonly RowKey: string;
  readonly [property: string]: string;
}

function azure(transport: Transport): Provider {
  const credential = new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY);
  const tableName = `golden${transport}`;
  const { endpoint } = azurite;
  const driver = azureAt(transport, endpoint, tableName);
  opened.add(driver);
  const client = new TableClient(endpoint, tableName, credential, { allowInsecureConnection: true });
  const { PartitionKey, RowKey, ...example } = exampleOn('On Azure Table Storage') as AzureExample;
  return {
    driver,
    async stored(id) {
      const rows = client.listEntities({ queryOptions: { filter: `RowKey eq '${id}'` } });
      const { etag, timestamp, partitionKey, rowKey, ...rest } = (await rows.next()).value as Record<string, unknown>;
      expect([typeof etag, typeof timestamp]).toEqual(['string', 'string']);
      const properties = Object.entries(rest).map(([name, value]) => [name, shown(value as Uint8Array)]);
      return {
        PartitionKey: partitionKey,
        RowKey: rowKey,
        properties: Object.fromEntries(properties) as Stored['properties'],
      };
    },
    async putExample() {
      const names = Object.keys(example).filter((name) => !name.includes('@'));
      expect(names.map((name) => example[`${name}@odata.type`])).toEqual(names.map(() => 'Edm.Binary'));
      const values = names.map((name) => [name, { type: 'Binary', value: example[name] }]);
      await client.createTable();
      await client.createEntity({ partitionKey: PartitionKey, rowKey: RowKey, ...Object.fromEntries(values) });
    },
  };
}

interface DatastoreExample {
  readonly key: { readonly path: { readonly kind: string; readonly name: string }[] };
  readonly properties: Readonly<Record<string, { readonly blobValue: string; readonly excludeFromIndexes: boolean }>>;
}

function datastore(transport: Transport): Provider {
  const namespace = `golden${process.pid}${transport}`;
  const endpoint = inject('embeddedEndpoint');
  const driver = datastoreAt(transport, endpoint, { projectId: PROJECT_ID, namespace });
  const service = serviceAt(endpoint);
  opened.add(driver).add(service);
  const keyOf = (name: string) => ({
    partitionId: { projectId: PROJECT_ID, namespaceId: namespace },
    path: [{ kind: 'Container', name }],
  });
  return {
    driver,
    async stored(id) {
      const { found } = await service.lookup([keyOf(id)]);
      const { key, properties } = found![0]!.entity!;
      const blobs = Object.entries(properties!).map(([name, { blobValue, excludeFromIndexes }]) => [
        name,
        shown(blobValue as Uint8Array) + (excludeFromIndexes === true ? '' : ', indexed'),
      ]);
      const { kind, name } = key!.path![0]!;
      return { kind, name, properties: Object.fromEntries(blobs) as Stored['properties'] };
    },
    async putExample() {
      const example = exampleOn('On Google Cloud Datastore') as DatastoreExample;
      const properties = Object.entries(example.properties).map(([name, { blobValue, excludeFromIndexes }]) => [
        name,
        { blobValue: Buffer.from(blobValue, 'base64'), excludeFromIndexes },
      ]);
      const key = { ...keyOf(''), path: example.key.path };
      await service.commit([{ insert: { key, properties: Object.fromEntries(properties) } }]);
    },
  };
}

describe.each([
  ...TRANSPORTS.map((transport) => ['azure-tables', transport, azure(transport)] as const),
  ...TRANSPORTS.map((transport) => ['datastore', transport, datastore(transport)] as const),
])('%s, transport %s', (name, _transport, { driver, stored, putExample }) => {
  const file = new URL(`golden/${name}.json`, import.meta.url);
  const golden = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, readonly Stored[]>>;

  test('the worked example of FORMAT.md is what the driver reads and writes', async () => {
    await putExample();
    const { version, parts } = (await readOne(driver, EXAMPLE))!;
    expect(parts).toEqual(exampleParts());
    const example = await stored(EXAMPLE);
    const other = await written(driver, replace(EXAMPLE, version, [part('h', 'other', 1)]));
    const again = [...parts].map(([name, bytes]) => ({ name, bytes, chunksBefore: 1 }));
    await written(driver, replace(EXAMPLE, other, again));
    expect(await stored(EXAMPLE)).toEqual(example);
  });

  test('inserted, patched and replaced entities are the golden ones, and are read back', async () => {
    const c = part('c', COMMIT);
    const rootVersion = await written(
      driver,
      insert(ROOT, [c, part('h', 'header'), part('p0', 'zero'), part('p1', '')]),
    );
    const version = await written(
      driver,
      insert(NODE, [c, part('h', 'header'), part('p3', LARGE), part('p17', 'seventeen')]),
    );
    expect(await Promise.all([ROOT, NODE].map(stored))).toEqual(golden['inserted']);
    expect((await readOne(driver, NODE, ['p3']))?.parts.get(partName('p3'))).toEqual(Buffer.from(LARGE));

    const chunks = name === 'datastore' ? 1 : Math.ceil(LARGE.length / AZURE_LIMITS.chunkBytes);
    await written(
      driver,
      patch(NODE, version, [part('h', 'newer', 1), part('p3', 'short', chunks), part('p17', '', 1)]),
    );
    expect([await stored(NODE)]).toEqual(golden['patched']);
    expect(textOf(await readOne(driver, NODE))).toEqual({ c: Buffer.from(COMMIT).toString(), h: 'newer', p3: 'short' });

    await written(driver, replace(ROOT, rootVersion, [part('h', 'last', 1), part('p1', 'one')]));
    expect([await stored(ROOT)]).toEqual(golden['replaced']);
  });

  test('entities written in one request are stored as others are', async () => {
    const [one, two] = NEIGHBOURS;
    const writes = [
      insert(one, [part('h', 'one'), part('p9999', 'nine')]),
      insert(two, [part('h', 'two'), part('p0', 'two')]),
    ];
    const outcomes = await driver.write(writes, CALL);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['written', 'written']);
    expect(await Promise.all(NEIGHBOURS.map(stored))).toEqual(golden['inserted together']);
  });
});

test.each([
  ['t!t!', '15', 'hatx'],
  ['t!orders!', '02', 'lf2a'],
  ['t!A-name_with.all-3!', '18', 'yul4'],
  ['n!orders!00112233aabbccdd!0123456789abcdef', '27', 'y3on'],
  ['p~0011', '1d', '1fh9'],
  // A hash of three digits.
  ['n!t!25e61', '2c', '0gbw'],
])('%s lies in partition %s of Azure, and its pages are tagged %s in Datastore', (id, partition, tag) => {
  expect(AZURE_LIMITS.lane(entityId(id))).toBe(partition);
  expect(propertyOf(entityId(id), partName('p12'))).toBe(`p12_${tag}`);
});
