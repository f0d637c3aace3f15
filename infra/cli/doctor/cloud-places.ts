// The places that `stowage doctor` examines: a project or account by its address, with the
// credentials that the clouds' own tools have.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { emulatorIn } from '../../../functions/gcp/platform.ts';
import { azureTablesDriver } from '../../../shared/drivers/azure-tables.ts';
import { tableCalls } from '../../../shared/drivers/azure-tables/table-calls.ts';
import { driverOn as tablesOn } from '../../../shared/drivers/azure-tables/azure-driver.ts';
import { CALL } from '../../../shared/drivers/conformance/check-calls.ts';
import { removeAll } from '../../../shared/drivers/conformance/run.ts';
import { datastoreDriver } from '../../../shared/drivers/datastore.ts';
import { datastoreCalls } from '../../../shared/drivers/datastore/datastore-calls.ts';
import { driverOn as datastoreOn } from '../../../shared/drivers/datastore/datastore-driver.ts';
import { LIMITS } from '../../../shared/drivers/datastore/entity-mapping.ts';
import { AZURE_TABLES_PROFILE, DATASTORE_PROFILE } from '../../../shared/drivers/slow/profiles.ts';
import { azureAccountAt, checkParameters, gcloudAuth, type Surroundings, urlIn } from '../data/address.ts';
import { gcloudClient, loaded, tableClientAt } from '../data/plain-address.ts';
import { UsageError } from '../command-options.ts';
import type { AskTool } from '../external-tools.ts';
import type { Place, Transport } from './examined-place.ts';
import { recordingChannel, recordingClient } from './recording.ts';

type Around = Omit<Surroundings, 'createTable'>;

const SERVICE = 'https://datastore.googleapis.com';

/** Opens a place. No I/O. Throws a UsageError for a wrong address. */
export async function placeAt(option: string, address: string, around: Around): Promise<Place> {
  const url = urlIn(address);
  const isGoogles = url?.protocol === 'gcp:' && /^(\/[^/]*)?$/.test(url.pathname);
  const isAzures = url?.protocol === 'azure:' && url.pathname.length <= 1;
  if (url === undefined || url.hostname === '' || !(isGoogles || isAzures))
    throw new UsageError(`${option} takes gcp://PROJECT/DATABASE or azure://ACCOUNT, not ${JSON.stringify(address)}`);
  checkParameters(option, url);
  if (url.searchParams.has('kind')) throw new UsageError(`${option} takes no kind: the examination has one of its own`);
  const secrets = new Set<string>();
  const ask: AskTool = async (tool, args) => {
    const said = await around.ask(tool, args);
    if (args.some((arg) => arg.includes('access-token'))) secrets.add(said);
    return said;
  };
  const name = `stowagedoctor${randomBytes(4).toString('hex')}`;
  const place = { address, name, withoutSecrets: (one: string) => without(one, secrets) };
  const opened = { ...around, ask };
  try {
    return { ...place, ...(await (isGoogles ? datastoreAt(url, name, opened) : tablesAt(url, name, opened, secrets))) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${option}: ${(error as Error).message}`, { cause: error });
  }
}

type Opened = Omit<Place, 'address' | 'name' | 'withoutSecrets'>;

async function datastoreAt(url: URL, kind: string, { ask, env }: Around): Promise<Opened> {
  const { Datastore } = await loaded(() => import('@google-cloud/datastore'), '@google-cloud/datastore');
  const endpoint = emulatorIn(env);
  const projectId = decodeURIComponent(url.hostname);
  const databaseId = url.pathname.slice(1);
  const namespace = url.searchParams.get('namespace') ?? '';
  const options = { projectId, databaseId, namespace };
  const auth = gcloudAuth(ask);
  const to = endpoint === undefined ? { auth } : { endpoint, allowInsecureConnection: true };
  const sdk = endpoint === undefined ? { authClient: await gcloudClient(ask) } : { apiEndpoint: endpoint };
  // Its types know one version of Google's authentication library, and it uses another.
  const sdkClient = () => new Datastore({ ...options, ...(sdk as object) });
  const transports: readonly Transport[] = [
    { name: 'own', isAtomic: false, open: () => datastoreDriver({ ...options, kind, ...to }) },
    { name: 'sdk', isAtomic: false, open: () => datastoreDriver({ client: sdkClient(), kind }) },
  ];
  return {
    provider: 'datastore',
    isEmulator: endpoint !== undefined,
    transports,
    space: { ...options, kind },
    recorded: (exchanges) => {
      const calls = datastoreCalls({ ...options, ...to }, recordingChannel(exchanges));
      return datastoreOn(calls, { space: { ...options, kind }, limits: LIMITS, doubtful: false });
    },
    assumed: DATASTORE_PROFILE,
    serviceTimeMs: () => http2TimeMs(endpoint ?? SERVICE),
    region: async () => {
      if (endpoint !== undefined) return undefined;
      const database = [`--database=${databaseId || '(default)'}`, `--project=${projectId}`];
      return await ask('gcloud', ['firestore', 'databases', 'describe', ...database, '--format=value(locationId)']);
    },
    remove: () => emptied(transports),
  };
}

async function tablesAt(url: URL, tableName: string, around: Around, secrets: Set<string>): Promise<Opened> {
  const account = azureAccountAt(url.hostname, around);
  const { endpoint, credential } = account;
  if (credential !== undefined && 'key' in credential) secrets.add(credential.key);
  for (const signature of [new URL(endpoint).searchParams.get('sig'), signatureIn(credential)])
    if (signature !== null && signature !== undefined) secrets.add(signature);
  const client = () => tableClientAt(url.hostname, tableName, around);
  const sdk = await client();
  const isEmulator = !new URL(endpoint).hostname.includes('.table.');
  return {
    provider: 'azure-tables',
    isEmulator,
    transports: [
      { name: 'own', isAtomic: true, open: () => azureTablesDriver({ ...account, tableName }) },
      { name: 'sdk', isAtomic: true, open: () => azureTablesDriver({ client: sdk }) },
    ],
    space: { endpoint: endpoint.replace(/\?.*/, ''), tableName },
    recorded: (exchanges) => {
      const calls = tableCalls({ endpoint, tableName, ...(credential && { credential }) }, recordingClient(exchanges));
      return tablesOn(calls, false);
    },
    assumed: AZURE_TABLES_PROFILE,
    serviceTimeMs: async () => {
      const reply = await fetch(new URL(endpoint).origin, { signal: AbortSignal.timeout(CALL.timeoutMs) });
      return timeIn(reply.headers.get('date') ?? undefined);
    },
    region: async () => {
      if (isEmulator) return undefined;
      const query = ['--query', 'primaryLocation', '--output', 'tsv'];
      return await around.ask('az', ['storage', 'account', 'show', '--name', url.hostname, ...query]);
    },
    // A client of its own: the drivers' policies serve the drivers' requests.
    remove: async () => {
      await (await client()).deleteTable();
    },
  };
}

/** A signature in a credential, alone: the rest of a SAS is no secret. */
function signatureIn(credential: object | undefined): string | undefined {
  if (credential === undefined || !('signature' in credential)) return undefined;
  return new URLSearchParams(String(credential.signature)).get('sig') ?? undefined;
}

function without(text: string, secrets: ReadonlySet<string>): string {
  let found = text;
  for (const secret of secrets)
    for (const one of [secret, encodeURIComponent(secret)]) found = found.replaceAll(one, '***');
  return found;
}

/** Removes the kind's entities over the first transport that can. */
async function emptied([first, ...others]: readonly Transport[]): Promise<void> {
  const driver = first!.open();
  try {
    await removeAll(driver, '');
  } catch (error) {
    if (others.length === 0) throw error;
    await emptied(others);
  } finally {
    await driver.close();
  }
}

/** Emulators speak HTTP/2 alone, as does the service. */
async function http2TimeMs(origin: string): Promise<number | undefined> {
  const session = connect(origin);
  try {
    const request = session.request({ ':method': 'GET', ':path': '/' });
    const signal = AbortSignal.timeout(CALL.timeoutMs);
    session.on('error', () => {});
    const [headers] = (await once(request, 'response', { signal })) as [Readonly<Record<string, string | undefined>>];
    return timeIn(headers['date']);
  } finally {
    session.destroy();
  }
}

function timeIn(date: string | undefined): number | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
