// Addresses of stores and of plain entities on the command line, and the credentials that the
// clouds' own tools have.
import type { TokenCredential } from '@azure/core-auth';
import type { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { emulatorIn } from '../../../functions/gcp/platform.ts';
import { azureTablesDriver } from '../../../shared/drivers/azure-tables.ts';
import { accountIn } from '../../../shared/drivers/azure-tables/connection-string.ts';
import { datastoreDriver, type DatastoreOptions } from '../../../shared/drivers/datastore.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { azurePlace } from '../../plain/azure-rows.ts';
import { datastorePlace } from '../../plain/datastore-entities.ts';
import type { PlainOptions, PlainPlace } from '../../plain/plain-place.ts';
import { UsageError } from '../command-options.ts';
import type { AskTool } from '../external-tools.ts';

export const ADDRESS_HELP = `A STORE is gcp://PROJECT[/DATABASE][?namespace=..&kind=..] or azure://ACCOUNT/TABLE. Credentials are those of
gcloud and az, or of the account in AZURE_STORAGE_CONNECTION_STRING, or a key in STOWAGE_TABLES_KEY. With
DATASTORE_EMULATOR_HOST, or with STOWAGE_TABLES_ENDPOINT and STOWAGE_TABLES_KEY, emulators are used, also on other
hosts, as \`npm run emulators\` prints.`;

/** A token of a tool is asked for again after this long. */
const TOKEN_KEPT_MS = 30 * 60_000;

/** What opening an address needs besides. */
export interface Surroundings {
  readonly ask: AskTool;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an Azure table is made where there is none. Default: it is not. */
  readonly createTable?: boolean;
}

/** A project of a Workspace domain has a colon, which a URL would take for that of a port. */
const PROJECT_OF_DOMAIN = /^(gcp:\/\/[^/?#@:]+\.[^/?#@:]+):(?=[a-z])/;

/** The address as a URL; undefined if it is none. */
export function urlIn(address: string): URL | undefined {
  const escaped = address.replace(PROJECT_OF_DOMAIN, '$1%3A');
  return URL.canParse(escaped) ? new URL(escaped) : undefined;
}

/** Opens the store at an address. No I/O. Throws a UsageError for a wrong address. */
export function storeAt(option: string, address: string, surroundings: Surroundings): Store {
  const url = urlIn(address);
  if (url === undefined || !isStore(url))
    throw new UsageError(
      `${option} takes gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE, not ${JSON.stringify(address)}`,
    );
  checkParameters(option, url, url.protocol === 'gcp:' ? ['namespace', 'kind'] : []);
  try {
    return openStore({ driver: (url.protocol === 'gcp:' ? datastoreAt : tablesAt)(url, surroundings) });
  } catch (error) {
    throw new UsageError(`${option}: ${(error as Error).message}`, { cause: error });
  }
}

function isStore({ protocol, hostname, host, username, password, pathname, hash }: URL): boolean {
  if (hostname === '' || host !== hostname || username + password + hash !== '') return false;
  if (protocol === 'gcp:') return /^(\/[^/]*)?$/.test(pathname);
  return protocol === 'azure:' && /^\/[A-Za-z0-9]+$/.test(pathname);
}

/** Throws a UsageError: a mistyped name would write into the default namespace. */
export function checkParameters(option: string, { protocol, searchParams }: URL, known: readonly string[]): void {
  const given = [...searchParams.keys()];
  const wrong = given.find((name, index) => !known.includes(name) || given.indexOf(name) !== index);
  if (wrong === undefined) return;
  const takes = known.length === 0 ? 'no parameters' : `the parameters ${known.join(' and ')}, each once`;
  throw new UsageError(`${option}: an address of ${protocol}// takes ${takes}, not ${JSON.stringify(wrong)}`);
}

function datastoreAt(url: URL, surroundings: Surroundings): ReturnType<typeof datastoreDriver> {
  const { space, to } = databaseAt(url, surroundings);
  return datastoreDriver({ ...space, kind: url.searchParams.get('kind') ?? 'Container', ...to });
}

/** What an address names of Datastore, and how it is reached: an emulator, or by gcloud's login. */
export function databaseAt({ hostname, pathname, searchParams }: URL, { ask, env }: Surroundings) {
  const endpoint = emulatorIn(env);
  const [projectId, namespace] = [decodeURIComponent(hostname), searchParams.get('namespace') ?? ''];
  const to = endpoint === undefined ? { auth: gcloudAuth(ask) } : { endpoint, allowInsecureConnection: true };
  return { endpoint, space: { projectId, databaseId: pathname.slice(1), namespace }, to };
}

function tablesAt(url: URL, surroundings: Surroundings): ReturnType<typeof azureTablesDriver> {
  const tableName = url.pathname.slice(1);
  const { createTable = false } = surroundings;
  return azureTablesDriver({ ...azureAccountAt(url.hostname, surroundings), tableName, createTable });
}

/** An account of Azure, or its emulator. Throws for a credential that cannot be sent there. */
export function azureAccountAt(name: string, { ask, env }: Surroundings) {
  // An empty variable counts as absent.
  const key = env['STOWAGE_TABLES_KEY'] || undefined;
  const emulator = env['STOWAGE_TABLES_ENDPOINT'] || undefined;
  if (emulator?.startsWith('http:') === true && key === undefined)
    throw new Error(
      'STOWAGE_TABLES_ENDPOINT is an http: address, which no login of az is sent to: set STOWAGE_TABLES_KEY',
    );
  const connected = key === undefined && emulator === undefined ? connectedAccount(name, env) : undefined;
  const account = connected ?? {
    endpoint: emulator ?? `https://${name}.table.core.windows.net`,
    credential: key === undefined ? azCredential(ask) : { name, key },
  };
  return { ...account, allowInsecureConnection: (emulator ?? connected) !== undefined };
}

const CONNECTION_STRING = 'AZURE_STORAGE_CONNECTION_STRING';

/** The account of the connection string in the environment if it has this name, else undefined. */
function connectedAccount(name: string, env: Surroundings['env']): ReturnType<typeof accountIn> | undefined {
  const text = env[CONNECTION_STRING] ?? '';
  if (text === '') return undefined;
  try {
    const account = accountIn(text);
    const { hostname, pathname } = new URL(account.endpoint);
    return hostname.startsWith(`${name}.`) || pathname.split('/')[1] === name ? account : undefined;
  } catch (error) {
    throw new Error(`${CONNECTION_STRING}: ${(error as Error).message}`, { cause: error });
  }
}

/** Google's credentials, as the driver takes them. */
function gcloudAuth(ask: AskTool): NonNullable<DatastoreOptions['auth']> {
  const token = kept(() => ask('gcloud', ['auth', 'print-access-token']));
  const client = {
    getRequestHeaders: async () => [['authorization', `Bearer ${await token()}`]] as const,
  };
  return { getClient: () => Promise.resolve(client) };
}

function azCredential(ask: AskTool): {
  getToken(): Promise<{ readonly token: string; readonly expiresOnTimestamp: number }>;
} {
  const resource = ['--resource', 'https://storage.azure.com/', '--query', 'accessToken', '--output', 'tsv'];
  return {
    getToken: async () => ({
      token: await ask('az', ['account', 'get-access-token', ...resource]),
      expiresOnTimestamp: Date.now() + TOKEN_KEPT_MS,
    }),
  };
}

/** Keeps a token for `TOKEN_KEPT_MS`; asks again after a failure. */
function kept(ask: () => Promise<string>): () => Promise<string> {
  let token: { readonly text: string; readonly atMs: number } | undefined;
  return async () => {
    if (token === undefined || performance.now() - token.atMs > TOKEN_KEPT_MS)
      token = { text: await ask(), atMs: performance.now() };
    return token.text;
  };
}

export const PLAIN_HELP = `A PLAIN is gcp://PROJECT[/DATABASE]/kind:KIND[?namespace=..&ancestor=KIND/ID..] or azure://ACCOUNT/table:NAME. Its
requests go by the clouds' own clients, @google-cloud/datastore or @azure/data-tables, which must be installed.`;

/** Opens plain entities. No I/O. Throws a UsageError for a wrong address. */
export async function plainAt(
  option: string,
  address: string | undefined,
  options: PlainOptions,
  surroundings: Surroundings,
): Promise<PlainPlace> {
  const refuse = (why: string): never => {
    throw new UsageError(`${option} ${why}`);
  };
  if (address === undefined) return refuse('is missing: gcp://PROJECT/kind:KIND or azure://ACCOUNT/table:NAME');
  const url = urlIn(address);
  const parts = url?.pathname.slice(1).split('/').map(decodeURIComponent) ?? [];
  const name = /^(kind|table):(.+)$/.exec(parts.pop() ?? '');
  const isGoogles = url?.protocol === 'gcp:' && name?.[1] === 'kind' && parts.length <= 1;
  const isAzures = url?.protocol === 'azure:' && name?.[1] === 'table' && parts.length === 0;
  if (url === undefined || url.hostname === '' || !(isGoogles || isAzures))
    return refuse(`takes gcp://PROJECT/kind:KIND or azure://ACCOUNT/table:NAME, not ${JSON.stringify(address)}`);
  checkParameters(option, url, isGoogles ? ['namespace', 'ancestor'] : []);
  if (isGoogles) return await kindAt(url, { databaseId: parts[0] ?? '', kind: name[2]! }, options, surroundings);
  const client = await tableClientAt(url.hostname, name[2]!, surroundings);
  if (surroundings.createTable === true) await client.createTable();
  return azurePlace(client, options);
}

async function kindAt(
  url: URL,
  at: { readonly databaseId: string; readonly kind: string },
  options: PlainOptions,
  { ask, env }: Surroundings,
): Promise<PlainPlace> {
  const { v1 } = await loaded(() => import('@google-cloud/datastore'), '@google-cloud/datastore');
  const projectId = decodeURIComponent(url.hostname);
  const endpoint = emulatorIn(env);
  const ancestor = url.searchParams.get('ancestor');
  const place = {
    ...at,
    projectId,
    namespace: url.searchParams.get('namespace') ?? '',
    ancestor: ancestor === null ? undefined : pathIn(ancestor),
  };
  const authClient = await gcloudClient(ask);
  if (endpoint === undefined) return datastorePlace(new v1.DatastoreClient({ projectId, authClient }), place, options);
  const { hostname, port } = new URL(endpoint);
  const { credentials } = await loaded(() => import('@grpc/grpc-js'), '@grpc/grpc-js');
  const emulator = { servicePath: hostname, apiEndpoint: hostname, port: Number(port) };
  const sslCreds = credentials.createInsecure();
  return datastorePlace(new v1.DatastoreClient({ projectId, authClient, ...emulator, sslCreds }), place, options);
}

/** Google's credentials, as its clients take them. No I/O before they need a token. */
export async function gcloudClient(ask: AskTool) {
  const { OAuth2Client } = await loaded(() => import('google-auth-library'), 'google-auth-library');
  const client = new OAuth2Client();
  client.refreshHandler = async () => ({
    access_token: await ask('gcloud', ['auth', 'print-access-token']),
    expiry_date: Date.now() + TOKEN_KEPT_MS,
  });
  return client;
}

/** Kinds and identifiers in turns: an identifier of digits is a number, unless it is in quotes. */
function pathIn(text: string): (string | number | bigint)[] {
  const parts = text.split('/');
  if (parts.length % 2 !== 0 || parts.includes(''))
    throw new UsageError(`ancestor takes KIND/ID, or more of them in turns, not ${JSON.stringify(text)}`);
  return parts.map((part, index) => {
    if (index % 2 === 0 || !/^\d+$/.test(part)) return part.replace(/^"(.*)"$/, '$1');
    return Number.isSafeInteger(Number(part)) ? Number(part) : BigInt(part);
  });
}

/** Microsoft's client of a table. No I/O. */
export async function tableClientAt(account: string, table: string, surroundings: Surroundings): Promise<TableClient> {
  const { TableClient, AzureNamedKeyCredential: NamedKey } = await loaded(
    () => import('@azure/data-tables'),
    '@azure/data-tables',
  );
  const theirs = (given: object): TokenCredential | AzureNamedKeyCredential =>
    'key' in given && 'name' in given
      ? new NamedKey(String(given.name), String(given.key))
      : (given as TokenCredential);
  const { endpoint, credential, allowInsecureConnection } = azureAccountAt(account, surroundings);
  const settings = { allowInsecureConnection };
  // Without a credential the endpoint has a shared access signature.
  return credential === undefined
    ? new TableClient(endpoint, table, settings)
    : new TableClient(endpoint, table, theirs(credential) as TokenCredential, settings);
}

/** An optional package. Throws a UsageError that says how to install it. */
export async function loaded<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new UsageError(`${name} is not installed, through which requests go: npm install ${name}`, {
      cause: error,
    });
  }
}
