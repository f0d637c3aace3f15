// Addresses of stores on the command line, and the credentials that the clouds' own tools have.
import { azureTablesDriver } from '../../../shared/drivers/azure-tables.ts';
import { datastoreDriver, type DatastoreOptions } from '../../../shared/drivers/datastore.ts';
import { openStore, type Store } from '../../../shared/store/index.ts';
import { UsageError } from '../options.ts';
import type { AskTool } from '../tools.ts';

export const ADDRESS_HELP = `A STORE is gcp://PROJECT[/DATABASE][?namespace=..&kind=..] or azure://ACCOUNT/TABLE. Credentials are those of
gcloud and az, or of an account's key in STOWAGE_TABLES_KEY. With DATASTORE_EMULATOR_HOST, or with
STOWAGE_TABLES_ENDPOINT and STOWAGE_TABLES_KEY, the emulators are used, as \`npm run emulators\` prints.`;

/** A token of a tool is asked for again after this long. */
const TOKEN_KEPT_MS = 30 * 60_000;

/** The part of the environment that is read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Parameters of an address, by its protocol. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = { 'gcp:': ['namespace', 'kind'], 'azure:': [] };

/** Opens the store at an address. No I/O. Throws a UsageError for what is no address. */
export function storeAt(option: string, address: string, ask: AskTool, env: Environment): Store {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && isStore(url)) {
    checkParameters(option, url);
    return openStore({ driver: url.protocol === 'gcp:' ? datastoreAt(url, ask, env) : tablesAt(url, ask, env) });
  }
  throw new UsageError(
    `${option} takes gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE, not ${JSON.stringify(address)}`,
  );
}

function isStore({ protocol, hostname, host, username, password, pathname, hash }: URL): boolean {
  if (hostname === '' || host !== hostname || username + password + hash !== '') return false;
  if (protocol === 'gcp:') return /^(\/[^/]*)?$/.test(pathname);
  return protocol === 'azure:' && /^\/[A-Za-z0-9]+$/.test(pathname);
}

/** A name that is mistyped would write into the default namespace. */
function checkParameters(option: string, { protocol, searchParams }: URL): void {
  const known = PARAMETERS[protocol] ?? [];
  const given = [...searchParams.keys()];
  const wrong = given.find((name, index) => !known.includes(name) || given.indexOf(name) !== index);
  if (wrong === undefined) return;
  const takes = known.length === 0 ? 'no parameters' : `the parameters ${known.join(' and ')}, each once`;
  throw new UsageError(`${option}: a ${protocol}// address takes ${takes}, not ${JSON.stringify(wrong)}`);
}

function datastoreAt(url: URL, ask: AskTool, env: Environment): ReturnType<typeof datastoreDriver> {
  const host = env['DATASTORE_EMULATOR_HOST'];
  const databaseId = url.pathname.slice(1);
  const { namespace = '', kind = 'Container' } = Object.fromEntries(url.searchParams);
  const to = host === undefined ? { auth: gcloudAuth(ask) } : { endpoint: `http://${host}` };
  return datastoreDriver({ projectId: url.hostname, databaseId, namespace, kind, ...to });
}

function tablesAt(url: URL, ask: AskTool, env: Environment): ReturnType<typeof azureTablesDriver> {
  const key = env['STOWAGE_TABLES_KEY'];
  const name = url.hostname;
  const endpoint = env['STOWAGE_TABLES_ENDPOINT'] ?? `https://${name}.table.core.windows.net`;
  const credential = key === undefined ? azCredential(ask) : { name, key };
  return azureTablesDriver({ endpoint, tableName: url.pathname.slice(1), credential });
}

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
