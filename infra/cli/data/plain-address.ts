// Addresses of plain entities on the command line: a kind of Datastore, or a table of Azure.
import type { TokenCredential } from '@azure/core-auth';
import type { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { emulatorIn } from '../../../functions/gcp/platform.ts';
import type { PlainOptions, PlainPlace } from '../../plain/plain-place.ts';
import { UsageError } from '../command-options.ts';
import type { AskTool } from '../external-tools.ts';
import { azureAccountAt, type Surroundings, TOKEN_KEPT_MS, urlIn } from './address.ts';

export const PLAIN_HELP = `A PLAIN is gcp://PROJECT[/DATABASE]/kind:KIND[?namespace=..&ancestor=KIND/ID..] or azure://ACCOUNT/table:NAME. Its
requests go by the clouds' own clients, @google-cloud/datastore or @azure/data-tables, which must be installed.`;

const PARAMETERS = ['namespace', 'ancestor'];

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
  const isAzures = url?.protocol === 'azure:' && name?.[1] === 'table' && parts.length === 0 && url.search === '';
  if (url === undefined || url.hostname === '' || !(isGoogles || isAzures))
    return refuse(`takes gcp://PROJECT/kind:KIND or azure://ACCOUNT/table:NAME, not ${JSON.stringify(address)}`);
  const given = [...url.searchParams.keys()];
  const wrong = given.find((one, index) => !PARAMETERS.includes(one) || given.indexOf(one) !== index);
  if (wrong !== undefined) return refuse(`takes ${PARAMETERS.join(' and ')}, each once, not ${JSON.stringify(wrong)}`);
  return isGoogles
    ? kindAt(url, { databaseId: parts[0] ?? '', kind: name[2]! }, options, surroundings)
    : tableAt(url.hostname, name[2]!, options, surroundings);
}

async function kindAt(
  url: URL,
  at: { readonly databaseId: string; readonly kind: string },
  options: PlainOptions,
  { ask, env }: Surroundings,
): Promise<PlainPlace> {
  const { v1 } = await loaded(() => import('@google-cloud/datastore'), '@google-cloud/datastore');
  const { datastorePlace } = await import('../../plain/datastore-entities.ts');
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

async function tableAt(
  account: string,
  table: string,
  options: PlainOptions,
  surroundings: Surroundings,
): Promise<PlainPlace> {
  const { azurePlace } = await import('../../plain/azure-rows.ts');
  const client = await tableClientAt(account, table, surroundings);
  if (surroundings.createTable) await client.createTable();
  return azurePlace(client, options);
}

/** Microsoft's client of a table. No I/O. */
export async function tableClientAt(
  account: string,
  table: string,
  surroundings: Omit<Surroundings, 'createTable'>,
): Promise<TableClient> {
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
