// Opens the driver of Azure Table Storage; azure-tables/azure-driver.ts is the driver itself.
import type { Driver } from '../store/contract/driver.ts';
import { BOOLEAN, isText, type Kind, OBJECT, objectWith, optionsOf, STRING } from '../store/contract/check-options.ts';
import { type ClientOptions, tableCalls } from './azure-tables/table-calls.ts';
import { accountIn } from './azure-tables/connection-string.ts';
import { driverOn } from './azure-tables/azure-driver.ts';
import { sdkCalls, type TableClient } from './azure-tables/table-sdk.ts';
import { addressLike, checkSecure, disposable, hasOption, textLike } from './common/factory.ts';

/** The driver's own transport: an endpoint, a table, and a credential. */
export type AzureTablesOptions = ClientOptions;

/** The driver's own transport, told by a connection string. */
export interface AzureTablesConnectionOptions extends Pick<ClientOptions, 'tableName' | 'allowInsecureConnection'> {
  /** As the portal's page "Access keys" has it, with a SAS, or `UseDevelopmentStorage=true`. */
  readonly connectionString: string;
}

/** Your own client, which says endpoint, table and credential. */
export interface AzureTablesClientOptions {
  /**
   * A `TableClient` of @azure/data-tables 13.3 or later. The driver adds a policy to its pipeline
   * that sends each of the driver's requests once: the client's retries serve other requests alone.
   * It is never closed. The table is created when first needed.
   */
  readonly client: TableClient;
}

/** Hosts of the service itself, in all of its clouds; others are probed. */
const SERVICE_HOST = /\.table\.(core\.windows\.net|core\.chinacloudapi\.cn|core\.usgovcloudapi\.net)$/;

const TOKEN_CREDENTIAL = objectWith('a token credential', 'getToken');
const CREDENTIAL: Kind = {
  name: 'an AzureNamedKeyCredential, an AzureSASCredential or a token credential',
  accepts: (value) => TOKEN_CREDENTIAL.accepts(value) || hasTexts(value, 'name', 'key') || hasTexts(value, 'signature'),
};

/** Node.js drops what is no base64 and signs with the rest: the service would refuse it. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$/;

const TABLE_NAME = textLike('3 to 63 letters and digits, a letter first', /^[A-Za-z][A-Za-z0-9]{2,62}$/);

const check = optionsOf<AzureTablesOptions>(
  'azureTablesDriver',
  {
    endpoint: addressLike('https://ACCOUNT.table.core.windows.net or http://127.0.0.1:10002/devstoreaccount1'),
    tableName: TABLE_NAME,
    credential: CREDENTIAL,
    allowInsecureConnection: BOOLEAN,
    createTable: BOOLEAN,
  },
  ['endpoint', 'tableName'],
);

const checkConnection = optionsOf<AzureTablesConnectionOptions>(
  'azureTablesDriver with a connection string',
  { connectionString: STRING, tableName: TABLE_NAME, allowInsecureConnection: BOOLEAN },
  ['connectionString', 'tableName'],
);

const checkClient = optionsOf<AzureTablesClientOptions>(
  'azureTablesDriver with a client',
  { client: objectWith('a TableClient', 'createEntity', 'submitTransaction') },
  ['client'],
);

/**
 * A driver over its own transport, or over `client`. No I/O; the SDK is never loaded here. Throws a
 * TypeError for misuse, such as an `http:` endpoint on another machine that is not allowed.
 */
export function azureTablesDriver(
  options: AzureTablesOptions | AzureTablesConnectionOptions | AzureTablesClientOptions,
): Driver & AsyncDisposable {
  if (hasOption(options, 'client')) return driverOverClient(options);
  if (hasOption(options, 'connectionString')) return azureTablesDriver(connected(options));
  check(options);
  const { endpoint, credential, allowInsecureConnection } = options;
  checkSecure('azureTablesDriver', endpoint, allowInsecureConnection);
  const { protocol, hostname, origin, searchParams } = new URL(endpoint);
  if (credential === undefined && !searchParams.has('sig'))
    throw new TypeError(`azureTablesDriver needs credential: it must be ${CREDENTIAL.name}, or a SAS in endpoint`);
  if (credential !== undefined && 'key' in credential && !BASE64.test(credential.key))
    throw new TypeError(
      'azureTablesDriver: credential.key is no base64: give an access key of the account as it is, not a connection string',
    );
  if (protocol === 'http:' && TOKEN_CREDENTIAL.accepts(credential))
    throw new TypeError(
      'azureTablesDriver: a token credential goes to https: alone: give an https: endpoint, or a key',
    );
  return disposable(driverOn(tableCalls(options), !SERVICE_HOST.test(hostname), origin));
}

function driverOverClient(options: AzureTablesClientOptions): Driver & AsyncDisposable {
  checkClient(options);
  const { hostname, origin } = new URL(options.client.url);
  return disposable(driverOn(sdkCalls(options.client), !SERVICE_HOST.test(hostname), origin));
}

function connected(options: AzureTablesConnectionOptions): AzureTablesOptions {
  checkConnection(options);
  const { connectionString, ...rest } = options;
  return { ...rest, ...accountIn(connectionString) };
}

function hasTexts(value: unknown, ...names: readonly string[]): boolean {
  return OBJECT.accepts(value) && names.every((name) => isText((value as Record<string, unknown>)[name]));
}
