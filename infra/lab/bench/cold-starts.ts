// A cold function from the start of its host to the first record, beside an empty one.
import { cp, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { whole } from '../../../shared/lab/kit/format.ts';
import { goalFinding } from '../../../shared/lab/report/chapters/goal.ts';
import { type Chapter, type FigureTable, type Row, typicalOf } from '../../../shared/lab/report/chapters/schema.ts';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../emulators/azurite.ts';
import { startEmbeddedDatastore } from '../../emulators/embedded.ts';
import type { Emulator } from '../../emulators/emulator.ts';
import { startAzureHost } from '../../hosts/azure.ts';
import { startGcpHost } from '../../hosts/gcp.ts';
import type { FunctionHost } from '../../hosts/host.ts';
import type { Cloud } from '../../package/bundle.ts';
import type { Experiment } from '../experiments/experiment.ts';
import { alternatingRuns, type Variant } from '../experiments/rounds.ts';
import { folderOf, FUNCTIONS, packageAndUnpack } from '../../package/package.ts';
import { COLD_START_GOALS_MS } from './contest/goals.ts';

const CLOUDS = ['gcp', 'azure'] as const;
const KEY = 'measure-cold-start-key';
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

export function coldStarts(rounds: number): Experiment {
  return {
    id: 'cold',
    title: 'Cold functions',
    question: 'How much longer than an empty function does ours take to its first record?',
    source: null,
    run: ({ signal }) => chapter(rounds, signal),
  };
}

async function chapter(rounds: number, signal: AbortSignal): Promise<Chapter> {
  const rows = await measuredRows(rounds, signal);
  const where = 'this machine';
  const table: FigureTable = {
    id: 'cold',
    title: 'A cold function',
    about: `Each packaged as for a deployment, from the start of its host to the first record in a table that it makes. Medians of ${rounds} rounds in turn.`,
    hasMedians: true,
    columns: [{ id: 'ms', era: 'now', measure: 'time to a record', where, unit: 'ms', better: 'lower' }],
    rows,
  };
  const findings = CLOUDS.map((cloud) => {
    const [own, empty] = [cloud, `${cloud}-empty`].map((id) =>
      typicalOf(table, rows.find((row) => row.id === id)?.figures['ms']),
    );
    const overMs = own === undefined || empty === undefined ? null : own - empty;
    return goalFinding(`${cloud}: milliseconds over the empty one`, overMs, { atMost: COLD_START_GOALS_MS[cloud] });
  });
  return { tables: [table], wordTables: [], cannotShow: [], findings };
}

async function measuredRows(rounds: number, signal: AbortSignal): Promise<Row[]> {
  await using made = new AsyncDisposableStack();
  const dir = await mkdtemp(path.join(tmpdir(), 'stowage-cold-'));
  made.defer(() => rm(dir, { recursive: true, force: true }));
  const azurite = await startAzurite({ inProcess: false });
  made.defer(() => azurite.close());
  const datastore = await startEmbeddedDatastore({ inProcess: false });
  made.defer(() => datastore.close());
  const packages = await packageAndUnpack(
    dir,
    FUNCTIONS.filter(({ name }) => name === 'records'),
  );
  const rows: Row[] = [];
  for (const cloud of CLOUDS) {
    const folder = folderOf(packages, cloud, 'records');
    const emptyFolder = path.join(dir, `${cloud}-empty`);
    await cp(folder, emptyFolder, { recursive: true });
    await writeFile(path.join(emptyFolder, MAIN), EMPTY[cloud]);
    const emulator = cloud === 'gcp' ? datastore : azurite;
    const variant = (row: string, code: string): Variant => ({
      row,
      columns: ['ms'],
      run: async () => ({ ms: await once(cloud, code, emulator) }),
    });
    const empty = `${cloud}-empty`;
    const variants = [variant(empty, emptyFolder), variant(cloud, folder)];
    const cells = await alternatingRuns({ signal }, { rounds, warmUps: 0 }, variants);
    const { size } = await stat(path.join(folder, MAIN));
    const row = (id: string, name: string): Row => ({ id, name, against: empty, figures: cells.get(id) ?? {} });
    rows.push(row(empty, `${cloud}: empty`), row(cloud, `${cloud}: Stowage, ${whole(size / 1_024)} KiB of code`));
  }
  return rows;
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

interface Started {
  readonly host: FunctionHost;
  readonly headers: Record<string, string>;
}

async function start(cloud: Cloud, bundleDir: string, { endpoint }: Emulator): Promise<Started> {
  const keys = { STOWAGE_ADMIN_KEYS: KEY };
  if (cloud === 'gcp') {
    const address = { GOOGLE_CLOUD_PROJECT: 'stowage-local', DATASTORE_EMULATOR_HOST: endpoint.replace('http://', '') };
    return { host: await startGcpHost({ bundleDir, target: 'records', env: { ...keys, ...address } }), headers: {} };
  }
  const account = { STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME, STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY };
  const host = await startAzureHost({ bundleDir, env: { ...keys, ...account, STOWAGE_TABLES_ENDPOINT: endpoint } });
  return { host, headers: { 'x-functions-key': host.hostKey } };
}
