// Starts Azurite's table service alone: the package's main entry starts three, and writes files.
import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startSupervised, untilReady } from '../processes/supervised.ts';
import { keepTables, type TableStore } from './azurite-kept.ts';
import type { TableFaults } from './azurite-front/faults.ts';
import { startTableFront } from './azurite-front/front.ts';
import type { Journal } from './datastore/storage/journal.ts';
import type { Emulator } from './emulator.ts';

/** Azurite's built-in account. The key is public: every installation has it. */
export const AZURITE_ACCOUNT_NAME = 'devstoreaccount1';
export const AZURITE_ACCOUNT_KEY =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export interface AzuriteOptions {
  /** True shares this process and its thread (tests); false takes a process (measurements). */
  readonly inProcess: boolean;
  /** Only in this process: a file that keeps the data. Default: memory alone. */
  readonly dataFile?: string;
}

interface TableServer {
  readonly metadataStore: TableStore;
  readonly httpServer: HttpServer;
  start(): Promise<void>;
  close(): Promise<void>;
  getHttpServerAddress(): string;
}

const NAME = 'Azurite';
const READY_TIMEOUT_MS = 60_000;
const ENTRY = fileURLToPath(new URL('azurite-process.ts', import.meta.url));
const ADDRESS = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/m;

/** Starts the service on a free port of 127.0.0.1; `endpoint` includes the account's path. */
export async function startAzurite({ inProcess, dataFile }: AzuriteOptions): Promise<Emulator> {
  if (inProcess) {
    const server = await startTableServer(dataFile);
    return { name: `${NAME} in process`, endpoint: endpointAt(server.address), close: () => server.close() };
  }
  const child = startSupervised(process.execPath, [ENTRY]);
  await untilReady(NAME, child, () => ADDRESS.test(child.output()), READY_TIMEOUT_MS);
  const endpoint = endpointAt(ADDRESS.exec(child.output())![1]!);
  return { name: NAME, endpoint, exited: child.exited, close: () => child.close() };
}

function endpointAt(address: string): string {
  return `${address}/${AZURITE_ACCOUNT_NAME}`;
}

/** PEM files, for HTTPS. The service then takes tokens with right claims, whoever signed them. */
interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** In this process, with data in memory or `dataFile`. The address lacks the account's path. */
export async function startTableServer(
  dataFile?: string,
  tls?: TlsFiles,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const require = createRequire(import.meta.url);
  const { default: Server } = require('azurite/dist/src/table/TableServer') as {
    default: new (configuration: object) => TableServer;
  };
  const { default: Configuration } = require('azurite/dist/src/table/TableConfiguration') as {
    default: new () => object;
  };
  const configuration = Object.assign(new Configuration(), {
    host: '127.0.0.1',
    // The system chooses one.
    port: 0,
    enableAccessLog: false,
    // It refuses newer SDKs.
    skipApiVersionCheck: true,
    disableProductStyleUrl: true,
    isMemoryPersistence: true,
    ...(tls === undefined ? {} : { cert: tls.certFile, key: tls.keyFile, oauth: 'basic' }),
  });
  const server = new Server(configuration);
  await server.start();
  const journal = await keptBy(server, dataFile);
  let closing: Promise<void> | undefined;
  return {
    address: server.getHttpServerAddress(),
    close: () => (closing ??= server.close().finally(() => journal?.close())),
  };
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

/** Azurite in this process behind the strict front. The caller may install faults. */
export async function startStrictAzurite(port = 0): Promise<Emulator & { readonly faults: TableFaults }> {
  const server = await startTableServer();
  const account = { accountName: AZURITE_ACCOUNT_NAME, accountKey: AZURITE_ACCOUNT_KEY };
  const front = await startTableFront({ target: server.address, ...account, port });
  return {
    name: `${NAME} behind a strict front`,
    endpoint: endpointAt(front.address),
    faults: front.faults,
    async close() {
      await front.close();
      await server.close();
    },
  };
}
