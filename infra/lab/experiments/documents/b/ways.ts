// The ways to write the entities of document B: the plain SDKs with the connection settings of then, changed one by one and all together, and
// this store. An entity is a key that is a GUID and a text of 49 characters with a counter behind it; all are of one partition.
import { randomUUID } from 'node:crypto';
import { chunks } from '../../../../../shared/lab/kit/chunks.ts';
import type { Provider } from '../../../../../shared/lab/kit/dimensions.ts';
import type { Backends } from '../../backends.ts';
import { azureTablesSdk } from '../../plain-sdk/azure-tables.ts';
import { datastoreSdk } from '../../plain-sdk/datastore.ts';
import { type ConnectionSettings, settableClient } from '../../plain-sdk/http-client.ts';
import type { PlainSdk, TextRecord } from '../../plain-sdk/plain-sdk.ts';
import { forEachOf, type Numbers, type Variant } from '../../rounds.ts';
import { type Cost, costOf, spentNumbers } from '../../spending.ts';
import { putAll } from '../../text-table.ts';

/** What .NET did unless told otherwise, outside of ASP.NET: https://docs.particular.net/persistence/azure-storage/performance-tuning. */
const SETTINGS_OF_THEN: ConnectionSettings = { connectionsMax: 2, nagle: true, expectContinue: true };
const SETTINGS_CHANGED: ConnectionSettings = { connectionsMax: 48, nagle: false, expectContinue: false };

/** Batches on their way at a time where they are sent in parallel: one for each of the 48 connections. */
export const PARALLEL = 48;
/** The service's limit of a group transaction. */
export const GROUP = 100;
/** The customary size of a commit on Datastore. */
const LARGE_GROUP = 500;

export const TEXT = 'The quick brown fox jumps over the lazy dog, 49 c';

/** How much is written, and how. */
export interface Way {
  /** Id of its row. */
  readonly row: string;
  /** Records handed over together; 1: by the call for a single record. */
  readonly group: number;
  readonly inFlight: number;
}

export interface Sizes {
  readonly entities: number;
  /** Entities where each is a request of its own. */
  readonly singles: number;
}

/** Columns of one provider. */
function columnsOf(provider: Provider): string[] {
  return ['s', 'rate', 'requests', 'billed', 'cpu'].map((measure) => `${provider}-${measure}`);
}

export function azureVariants(backends: Backends, sizes: Sizes, signal: AbortSignal): Variant[] {
  const plain = (way: Way, settings?: ConnectionSettings): Variant =>
    plainVariant({ provider: 'azure-tables', way, sizes, signal }, async () => {
      const { endpoint } = await backends.emulator('azure-tables');
      if (settings === undefined) return azureTablesSdk(endpoint);
      const client = settableClient(settings);
      return azureTablesSdk(endpoint, client, () => client.close());
    });
  const serial = (row: string, changed: Partial<ConnectionSettings> = {}): Variant =>
    plain({ row, group: GROUP, inFlight: 1 }, { ...SETTINGS_OF_THEN, ...changed });
  const { connectionsMax, nagle, expectContinue } = SETTINGS_CHANGED;
  return [
    plain({ row: 'single', group: 1, inFlight: 1 }, SETTINGS_OF_THEN),
    serial('baseline'),
    serial('connections', { connectionsMax }),
    serial('expect', { expectContinue }),
    serial('nagle', { nagle }),
    plain({ row: 'parallel', group: GROUP, inFlight: PARALLEL }, SETTINGS_OF_THEN),
    plain({ row: 'everything', group: GROUP, inFlight: PARALLEL }, SETTINGS_CHANGED),
    plain({ row: 'sdk', group: GROUP, inFlight: 1 }),
    plain({ row: 'sdk-parallel', group: GROUP, inFlight: PARALLEL }),
    ...storeVariants(backends, { provider: 'azure-tables', sizes, signal }),
  ];
}

/** Without the settings of HTTP/1.1: gRPC sends all of a client's requests over one HTTP/2 connection. */
export function datastoreVariants(backends: Backends, sizes: Sizes, signal: AbortSignal): Variant[] {
  const plain = (way: Way, clients = 1): Variant =>
    plainVariant({ provider: 'datastore', way, sizes, signal }, async () =>
      datastoreSdk((await backends.emulator('datastore')).endpoint, clients),
    );
  return [
    plain({ row: 'single', group: 1, inFlight: 1 }),
    plain({ row: 'baseline', group: GROUP, inFlight: 1 }),
    plain({ row: 'parallel', group: GROUP, inFlight: PARALLEL }),
    plain({ row: 'everything', group: GROUP, inFlight: PARALLEL }, PARALLEL),
    plain({ row: 'large', group: LARGE_GROUP, inFlight: 1 }),
    ...storeVariants(backends, { provider: 'datastore', sizes, signal }),
  ];
}

interface Load {
  readonly provider: Provider;
  readonly sizes: Sizes;
  readonly signal: AbortSignal;
}

function storeVariants(backends: Backends, load: Load): Variant[] {
  const ways: Way[] = [
    { row: 'store-single', group: 1, inFlight: 1 },
    { row: 'store-baseline', group: GROUP, inFlight: 1 },
    { row: 'store-parallel', group: GROUP, inFlight: PARALLEL },
    { row: 'store-whole', group: load.sizes.entities, inFlight: 1 },
  ];
  return ways.map((way) => storeVariant(backends, { ...load, way }));
}

/** Each run has clients and a table of its own; making them is not measured. */
function plainVariant(load: Load & { readonly way: Way }, open: () => Promise<PlainSdk>): Variant {
  const { provider, way, signal } = load;
  return {
    row: way.row,
    columns: columnsOf(provider),
    async run(round) {
      const sdk = await open();
      try {
        const table = await sdk.open(tableName(way, round));
        const groups = groupsOf(load);
        const cost = await costOf(sdk, () =>
          forEachOf(groups, { inFlight: way.inFlight, signal }, (group) =>
            way.group === 1 ? table.insert(group[0]!) : table.insertMany(group),
          ),
        );
        await table.drop();
        return numbersOf(provider, groups.flat().length, cost);
      } finally {
        await sdk.close();
      }
    },
  };
}

/** One store for all runs, a table for each. */
function storeVariant(backends: Backends, load: Load & { readonly way: Way }): Variant {
  const { provider, way, signal } = load;
  return {
    row: way.row,
    columns: columnsOf(provider),
    async run(round) {
      const counted = await backends.store(provider);
      const table = await counted.store.table<string>(tableName(way, round));
      const groups = groupsOf(load);
      const cost = await costOf(counted, () =>
        forEachOf(groups, { inFlight: way.inFlight, signal }, (group) =>
          way.group === 1 ? table.put(group[0]!.key, group[0]!.text, { signal }) : putAll(table, group, signal),
        ),
      );
      return numbersOf(provider, groups.flat().length, cost);
    },
  };
}

/** Names of tables on Azure are of letters and digits. */
function tableName({ row }: Way, round: number): string {
  return `b${row.replaceAll('-', '')}${round}`;
}

function groupsOf({ way, sizes }: { readonly way: Way; readonly sizes: Sizes }): TextRecord[][] {
  const count = way.group === 1 ? sizes.singles : sizes.entities;
  const records = Array.from({ length: count }, (_, counter) => ({ key: randomUUID(), text: `${TEXT}${counter}` }));
  return chunks(records, way.group);
}

/** Requests, operations and processor time are those of 10,000 records, also where fewer were written. */
function numbersOf(provider: Provider, records: number, cost: Cost): Numbers {
  return {
    [`${provider}-s`]: cost.wallMs / 1_000,
    [`${provider}-rate`]: (records / cost.wallMs) * 1_000,
    ...spentNumbers(provider, cost, records / 10_000),
  };
}
