// Starts Azurite's table service alone. Its package's main entry starts three, and writes files.
import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { keepTables, type TableStore } from './azurite-kept.ts';
import { type EntityName, type FrontOptions, placeFront } from './azurite-front/front.ts';
import type { Body } from './azurite-front/entity-size.ts';
import type { Journal } from './datastore/storage/journal.ts';
import { type Emulator, type ProcessOptions, startProcess } from './emulator.ts';
import { NO_NETWORK, slowCloud } from './emulated-network.ts';

/** Azurite's built-in account. The key is public: every installation has it. */
export const AZURITE_ACCOUNT_NAME = 'devstoreaccount1';
export const AZURITE_ACCOUNT_KEY =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export interface AzuriteOptions {
  /** True: in this process and its thread, for tests. False: in a process of its own. */
  readonly inProcess: boolean;
  /** A file that keeps the data. Default: memory alone. */
  readonly dataFile?: string | undefined;
}

interface TableServer {
  readonly metadataStore: TableStore;
  readonly httpServer: HttpServer;
  start(): Promise<void>;
  close(): Promise<void>;
  getHttpServerAddress(): string;
}

const NAME = 'Azurite';
const STRICT_NAME = `${NAME} behind a strict front`;

/** Starts the service on a free port of 127.0.0.1; `endpoint` includes the account's path. */
export async function startAzurite({ inProcess, dataFile }: AzuriteOptions): Promise<Emulator> {
  if (inProcess) {
    const server = await startTableServer({ dataFile });
    return { name: `${NAME} in process`, endpoint: endpointAt(server.address), close: () => server.close() };
  }
  return await startProcess('azurite', NAME, { dataFile });
}

/** Azurite behind the strict front, in one process of their own. Default port: a free one. */
export function startStrictProcess(options: Omit<ProcessOptions, 'dataFile'>): Promise<Emulator> {
  return startProcess('strict-azurite', STRICT_NAME, options);
}

function endpointAt(address: string): string {
  return `${address}/${AZURITE_ACCOUNT_NAME}`;
}

export interface TableServerOptions extends Pick<AzuriteOptions, 'dataFile'> {
  /** Default: 0, a free one. */
  readonly port?: number;
  /** PEM files, for HTTPS. The service then takes tokens with right claims, whoever signed them. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
}

/** Starts it in this process, with data in memory or `dataFile`. The address has no account. */
export async function startTableServer({ dataFile, ...options }: TableServerOptions = {}): Promise<
  Pick<TableServer, 'httpServer' | 'metadataStore'> & { readonly address: string; close(): Promise<void> }
> {
  const server = newServer(options);
  await server.start();
  const { httpServer, metadataStore } = server;
  const journal = await keptBy(server, dataFile);
  let closing: Promise<void> | undefined;
  return {
    httpServer,
    metadataStore,
    address: server.getHttpServerAddress(),
    close: () => (closing ??= server.close().finally(() => journal?.close())),
  };
}

function newServer({ port = 0, tls }: TableServerOptions): TableServer {
  const require = createRequire(import.meta.url);
  const { default: Server } = require('azurite/dist/src/table/TableServer') as {
    default: new (configuration: object) => TableServer;
  };
  const { default: Configuration } = require('azurite/dist/src/table/TableConfiguration') as {
    default: new () => object;
  };
  const configuration = Object.assign(new Configuration(), {
    host: '127.0.0.1',
    port,
    enableAccessLog: false,
    skipApiVersionCheck: true, // Otherwise it refuses newer SDKs.
    disableProductStyleUrl: true,
    isMemoryPersistence: true,
    ...(tls === undefined ? {} : { cert: tls.certFile, key: tls.keyFile, oauth: 'basic' }),
  });
  return new Server(configuration);
}

/** Rejects, with the server closed, if the file holds something else. */
async function keptBy(server: TableServer, dataFile: string | undefined): Promise<Journal | undefined> {
  try {
    return dataFile === undefined ? undefined : keepTables(server.metadataStore, server.httpServer, dataFile);
  } catch (error) {
    await server.close();
    throw error;
  }
}

interface StrictOptions extends Pick<TableServerOptions, 'port'> {
  /** Default: nothing is late, but a partition has its limit. */
  readonly network?: FrontOptions['network'];
}

/** Azurite in this process behind the strict front. */
export async function startStrictAzurite({
  port = 0,
  network = slowCloud(NO_NETWORK.profiles['azure-tables']),
}: StrictOptions = {}): Promise<Emulator> {
  const azurite = await startTableServer({ port });
  const { httpServer: server, metadataStore: store, address } = azurite;
  placeFront({ server, presentOf: (entity) => presentEntity(entity, store), network });
  return { name: STRICT_NAME, endpoint: endpointAt(address), close: () => azurite.close() };
}

/** Looks for the table under both names, in Azurite's order. */
function presentEntity({ table, partitionKey, rowKey }: EntityName, store: TableStore): Body {
  const [entities] = [table.toLowerCase(), table].flatMap((name) => {
    return store.db.getCollection(store.getTableCollectionName(AZURITE_ACCOUNT_NAME, name)) ?? [];
  });
  const present = entities?.findOne({ RowKey: rowKey, PartitionKey: partitionKey });
  return (present?.['properties'] ?? {}) as Body;
}

/** The variables by which the clouds' own clients, and this project's, find both emulators. */
export function clientsEnvironment(datastore: string, tables: string | undefined): Record<string, string> {
  return {
    DATASTORE_EMULATOR_HOST: datastore.replace('http://', ''),
    DATASTORE_PROJECT_ID: 'stowage-local',
    ...(tables !== undefined && {
      AZURE_STORAGE_CONNECTION_STRING: [
        'DefaultEndpointsProtocol=http',
        `AccountName=${AZURITE_ACCOUNT_NAME}`,
        `AccountKey=${AZURITE_ACCOUNT_KEY}`,
        `TableEndpoint=${tables}`,
      ].join(';'),
      STOWAGE_TABLES_ENDPOINT: tables,
      STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
      STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    }),
  };
}
