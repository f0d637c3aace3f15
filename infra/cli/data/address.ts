// Addresses of stores on the command line, and the credentials that the clouds' own tools have.
import { emulatorIn } from '../../../functions/gcp/platform.ts';
import { azureTablesDriver } from '../../../shared/drivers/azure-tables.ts';
import { accountIn } from '../../../shared/drivers/azure-tables/connection-string.ts';
import { datastoreDriver, type DatastoreOptions } from '../../../shared/drivers/datastore.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { UsageError } from '../command-options.ts';
import type { AskTool } from '../external-tools.ts';

export const ADDRESS_HELP = `A STORE is gcp://PROJECT[/DATABASE][?namespace=..&kind=..] or azure://ACCOUNT/TABLE. Credentials are those of
gcloud and az, or of the account in AZURE_STORAGE_CONNECTION_STRING, or a key in STOWAGE_TABLES_KEY. With
DATASTORE_EMULATOR_HOST, or with STOWAGE_TABLES_ENDPOINT and STOWAGE_TABLES_KEY, emulators are used, also on other
hosts, as \`npm run emulators\` prints.`;

/** A token of a tool is asked for again after this long. */
export const TOKEN_KEPT_MS = 30 * 60_000;

/** What opening an address needs besides. */
export interface Surroundings {
  readonly ask: AskTool;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether an Azure table is made where there is none. */
  readonly createTable: boolean;
}

/** Parameters of an address, by its protocol. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = { 'gcp:': ['namespace', 'kind'], 'azure:': [] };

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
  checkParameters(option, url);
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
export function checkParameters(option: string, { protocol, searchParams }: URL): void {
  const known = PARAMETERS[protocol] ?? [];
  const given = [...searchParams.keys()];
  const wrong = given.find((name, index) => !known.includes(name) || given.indexOf(name) !== index);
  if (wrong === undefined) return;
  const takes = known.length === 0 ? 'no parameters' : `the parameters ${known.join(' and ')}, each once`;
  throw new UsageError(`${option}: a ${protocol}// address takes ${takes}, not ${JSON.stringify(wrong)}`);
}

function datastoreAt(url: URL, { ask, env }: Surroundings): ReturnType<typeof datastoreDriver> {
  const endpoint = emulatorIn(env);
  const projectId = decodeURIComponent(url.hostname);
  const databaseId = url.pathname.slice(1);
  const { namespace = '', kind = 'Container' } = Object.fromEntries(url.searchParams);
  const to = endpoint === undefined ? { auth: gcloudAuth(ask) } : { endpoint, allowInsecureConnection: true };
  return datastoreDriver({ projectId, databaseId, namespace, kind, ...to });
}

function tablesAt(url: URL, surroundings: Surroundings): ReturnType<typeof azureTablesDriver> {
  const tableName = url.pathname.slice(1);
  const { createTable } = surroundings;
  return azureTablesDriver({ ...azureAccountAt(url.hostname, surroundings), tableName, createTable });
}

/** An account of Azure, or its emulator. Throws for a credential that cannot be sent there. */
export function azureAccountAt(name: string, { ask, env }: Omit<Surroundings, 'createTable'>) {
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
export function gcloudAuth(ask: AskTool): NonNullable<DatastoreOptions['auth']> {
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
