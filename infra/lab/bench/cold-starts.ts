// Measures how long a cold function takes from the start of its host to the first record in a table that it makes, beside an empty function under
// the same host.
import { cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { median } from '../../../shared/lab/kit/median.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../emulators/embedded.ts';
import type { Emulator } from '../../emulators/emulator.ts';
import { startAzureHost } from '../../hosts/azure.ts';
import { startGcpHost } from '../../hosts/gcp.ts';
import type { FunctionHost } from '../../hosts/host.ts';
import type { Cloud } from '../../package/bundle.ts';
import { folderOf, FUNCTIONS, packageAndUnpack } from '../../package/package.ts';

const KEY = 'measure-cold-start-key';
/** A package's code. */
const MAIN = 'lib/main.js';

/** A function that answers every path at once, whose time is the host's alone. */
const EMPTY: Readonly<Record<Cloud, string>> = {
  gcp: `export const records = (request, response) => { response.statusCode = 200; response.end('{}'); };\n`,
  azure: `import { createRequire } from 'node:module';
const { app } = createRequire(process.argv[1])('@azure/functions');
app.setup({ enableHttpStream: true });
app.http('all', { authLevel: 'anonymous', methods: ['GET', 'PUT'], route: '{*path}', handler: async () => ({ status: 200, body: '{}' }) });
`,
};

/** How long one cloud's function takes to its first record, and the empty one to the same answers. Medians. */
export interface ColdStart {
  readonly cloud: Cloud;
  /** Of our function's code, which the platform loads whole. */
  readonly bundleBytes: number;
  readonly ownMs: number;
  readonly emptyMs: number;
}

/** Packages both functions as for a deployment, and starts them in turn, so that the machine's other load meets both, against emulators. */
export async function coldStarts(rounds: number, signal: AbortSignal): Promise<ColdStart[]> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stowage-cold-'));
  const azurite = await startAzurite({ inProcess: false });
  const datastore = await startEmbeddedDatastore({ inProcess: false });
  try {
    const packages = await packageAndUnpack(
      dir,
      FUNCTIONS.filter(({ name }) => name === 'records'),
    );
    const measured: ColdStart[] = [];
    for (const cloud of ['gcp', 'azure'] as const) {
      const folder = folderOf(packages, cloud, 'records');
      const emptyFolder = path.join(dir, `${cloud}-empty`);
      await cp(folder, emptyFolder, { recursive: true });
      await writeFile(path.join(emptyFolder, MAIN), EMPTY[cloud]);
      const own: number[] = [];
      const empty: number[] = [];
      for (let round = 0; round < rounds; round++) {
        signal.throwIfAborted();
        empty.push(await once(cloud, emptyFolder, cloud === 'gcp' ? datastore : azurite));
        own.push(await once(cloud, folder, cloud === 'gcp' ? datastore : azurite));
      }
      const { size } = await stat(path.join(folder, MAIN));
      measured.push({ cloud, bundleBytes: size, ownMs: median(own), emptyMs: median(empty) });
    }
    return measured;
  } finally {
    await Promise.all([azurite.close(), datastore.close()]);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Milliseconds since the host was started. */
async function once(cloud: Cloud, bundleDir: string, emulator: Emulator): Promise<number> {
  const startedMs = performance.now();
  const { host, headers } = await start(cloud, bundleDir, emulator);
  try {
    const table = `${host.url}/v1/tables/cold`;
    const init = { headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers } };
    const signal = AbortSignal.timeout(30_000);
    for (const url of [table, `${table}/records/one`]) {
      const response = await fetch(url, { ...init, method: 'PUT', body: '{}', signal });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    }
    return performance.now() - startedMs;
  } finally {
    await host.close();
  }
}

async function start(
  cloud: Cloud,
  bundleDir: string,
  { endpoint }: Emulator,
): Promise<{ readonly host: FunctionHost; readonly headers: Record<string, string> }> {
  if (cloud === 'gcp') {
    const env = {
      GOOGLE_CLOUD_PROJECT: 'stowage-local',
      DATASTORE_EMULATOR_HOST: endpoint.replace('http://', ''),
      STOWAGE_ADMIN_KEYS: KEY,
    };
    return { host: await startGcpHost({ bundleDir, target: 'records', env }), headers: {} };
  }
  const env = {
    STOWAGE_TABLES_ENDPOINT: endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    STOWAGE_ADMIN_KEYS: KEY,
  };
  const host = await startAzureHost({ bundleDir, env });
  return { host, headers: { 'x-functions-key': host.hostKey } };
}
