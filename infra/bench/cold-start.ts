// Reports how long a cold function takes: from the start of its host to the first health, and to the first record in a table that it makes,
// beside an empty function under the same host. A report, not a test: `npm run cold-start`.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { median } from '../../shared/compare/plan/median.ts';
import { command, runCommand } from '../cli/options.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../emulators/embedded.ts';
import type { Emulator } from '../emulators/emulator.ts';
import { startAzureHost } from '../hosts/azure.ts';
import { startGcpHost } from '../hosts/gcp.ts';
import type { FunctionHost } from '../hosts/host.ts';
import type { Cloud } from '../package/bundle.ts';
import { folderOf, packageAndUnpack } from '../package/package.ts';

const ROUNDS = 9;
const KEY = 'measure-cold-start-key';

/** A function that answers every path at once, whose time is the host's alone. */
const EMPTY: Readonly<Record<Cloud, string>> = {
  gcp: `export const records = (request, response) => { response.statusCode = 200; response.end('{}'); };\n`,
  azure: `import { createRequire } from 'node:module';
const { app } = createRequire(process.argv[1])('@azure/functions');
app.setup({ enableHttpStream: true });
app.http('all', { authLevel: 'anonymous', methods: ['GET', 'PUT'], route: '{*path}', handler: async () => ({ status: 200, body: '{}' }) });
`,
};

interface Emulators {
  readonly azurite: Emulator;
  readonly datastore: Emulator;
}

interface Times {
  readonly healthMs: number;
  readonly recordMs: number;
}

const COLD_START = command({
  name: 'npm run cold-start --',
  about: `Measures how long a cold function takes on this machine, from the start of its host to the first health and to the first record in a
table that it makes, beside an empty function: medians of ${ROUNDS} rounds, some 2 minutes.`,
  options: {},
  examples: ['npm run cold-start'],
});

await runCommand(COLD_START, process.argv.slice(2), measure);

async function measure(): Promise<void> {
  const dir = await mkdtemp(path.join(tmpdir(), 'stowage-cold-'));
  const azurite = await startAzurite({ inProcess: false });
  const datastore = await startEmbeddedDatastore({ inProcess: false });
  const emulators = { azurite, datastore };
  try {
    const packages = await packageAndUnpack(dir);
    for (const cloud of ['gcp', 'azure'] as const) {
      const own = folderOf(packages, cloud, 'records');
      const empty = path.join(dir, `${cloud}-empty`);
      await cp(own, empty, { recursive: true });
      await writeFile(path.join(empty, 'lib/main.js'), EMPTY[cloud]);
      const [bare, whole] = await medians(cloud, empty, own, emulators);
      const over = `${whole.healthMs - bare.healthMs} and ${whole.recordMs - bare.recordMs} ms`;
      console.log(
        `${cloud}: health ${whole.healthMs} ms, first record ${whole.recordMs} ms; empty function ${bare.healthMs} and ${bare.recordMs} ms; over it ${over}`,
      );
    }
  } finally {
    await Promise.all([azurite.close(), datastore.close()]);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Medians over rounds that alternate between both functions, so that the machine's other load meets both. */
async function medians(
  cloud: Cloud,
  empty: string,
  own: string,
  emulators: Emulators,
): Promise<[bare: Times, whole: Times]> {
  const rounds: [Times, Times][] = [];
  for (let round = 0; round < ROUNDS; round++)
    rounds.push([await once(cloud, empty, emulators), await once(cloud, own, emulators)]);
  return [medianOf(rounds.map(([bare]) => bare)), medianOf(rounds.map(([, whole]) => whole))];
}

function medianOf(rounds: readonly Times[]): Times {
  return {
    healthMs: Math.round(median(rounds.map(({ healthMs }) => healthMs))),
    recordMs: Math.round(median(rounds.map(({ recordMs }) => recordMs))),
  };
}

async function once(cloud: Cloud, bundleDir: string, emulators: Emulators): Promise<Times> {
  const startedMs = performance.now();
  const { host, headers } = await start(cloud, bundleDir, emulators);
  const healthMs = performance.now() - startedMs;
  try {
    const table = `${host.url}/v1/tables/cold`;
    const init = { headers: { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json', ...headers } };
    const signal = AbortSignal.timeout(30_000);
    for (const url of [table, `${table}/records/one`]) {
      const response = await fetch(url, { ...init, method: 'PUT', body: '{}', signal });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${url} answered ${response.status}`);
    }
    return { healthMs, recordMs: performance.now() - startedMs };
  } finally {
    await host.close();
  }
}

async function start(
  cloud: Cloud,
  bundleDir: string,
  { azurite, datastore }: Emulators,
): Promise<{ readonly host: FunctionHost; readonly headers: Record<string, string> }> {
  if (cloud === 'gcp') {
    const env = {
      GOOGLE_CLOUD_PROJECT: 'stowage-local',
      DATASTORE_EMULATOR_HOST: datastore.endpoint.replace('http://', ''),
      STOWAGE_ADMIN_KEYS: KEY,
    };
    return { host: await startGcpHost({ bundleDir, target: 'records', env }), headers: {} };
  }
  const env = {
    STOWAGE_TABLES_ENDPOINT: azurite.endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    STOWAGE_ADMIN_KEYS: KEY,
  };
  const host = await startAzureHost({ bundleDir, env });
  return { host, headers: { 'x-functions-key': host.hostKey } };
}
