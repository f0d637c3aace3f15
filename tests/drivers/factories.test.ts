// The factories of drivers say at once what is wrong with their options: otherwise a provider would
// seem not to answer.
import { AzureNamedKeyCredential } from '@azure/data-tables';
import { Datastore } from '@google-cloud/datastore';
import { GoogleAuth } from 'google-auth-library';
import { describe, expect, test, vi } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME } from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { accountIn } from '../../shared/drivers/azure-tables/connection-string.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { memoryDriver } from '../../shared/drivers/memory.ts';
import type { Driver } from '../../shared/store/index.ts';

type Untyped = (options: unknown) => Driver;

const auth = new GoogleAuth();
const projectId = 'p';
const DATASTORE = { projectId, endpoint: 'http://127.0.0.1:8081' };

const credential = new AzureNamedKeyCredential('account', 'a2V5');
const token = { getToken: async () => null };
const AZURE = { endpoint: 'http://127.0.0.1:10002/account', tableName: 'stowage', credential };

const BAD_DATASTORE: [told: string, options: unknown][] = [
  ['datastoreDriver takes an object of projectId, databaseId,', undefined],
  ['datastoreDriver needs projectId: it must be a string that is not empty', { endpoint: DATASTORE.endpoint }],
  ['datastoreDriver has no option "project": did you mean projectId?', { ...DATASTORE, project: 'p' }],
  ['give the datastore driver credentials (auth), or the endpoint of an emulator', { projectId }],
  ['datastoreDriver: auth must be a GoogleAuth, not an object', { projectId, auth: { keyFile: 'key.json' } }],
  ['like http://127.0.0.1:8081 for an emulator, not "localhost:8081"', { projectId, endpoint: 'localhost:8081' }],
  [
    'endpoint is http: on another machine (emulator): give an https: address, or allowInsecureConnection: true',
    { projectId, endpoint: 'http://emulator:8081' },
  ],
  ['datastoreDriver with a client: client must be a Datastore, not an object', { client: {} }],
  ['datastoreDriver with a client has no option "projectId"', { projectId, client: new Datastore({ projectId }) }],
  ['an https endpoint needs credentials (auth)', { projectId, endpoint: 'https://example.org' }],
];

const BAD_AZURE: [told: string, options: unknown][] = [
  ['azureTablesDriver takes an object of endpoint, tableName,', undefined],
  ['azureTablesDriver needs endpoint: it must be an address like https://', { tableName: 'stowage', credential }],
  ['azureTablesDriver needs tableName: it must be 3 to 63', { endpoint: AZURE.endpoint, credential }],
  ['azureTablesDriver needs credential: it must be an AzureNamedKeyCredential', { ...AZURE, credential: undefined }],
  ...['', 'secret!', 'a2V5a2', 'AccountName=a;AccountKey=a2V5'].map((key): [string, unknown] => [
    'azureTablesDriver: credential.key is no base64: give an access key of the account as it is',
    { ...AZURE, credential: { name: 'account', key } },
  ]),
  ['a token credential, not a string', { ...AZURE, credential: 'a2V5' }],
  ['a token credential goes to https: alone', { ...AZURE, credential: token }],
  ['tableName must be 3 to 63 letters and digits, a letter first, not "my_table"', { ...AZURE, tableName: 'my_table' }],
  ['azureTablesDriver with a client: client must be a TableClient, not an object', { client: {} }],
  ['azureTablesDriver with a client has no option "endpoint"', { ...AZURE, client: {} }],
  [
    'it lacks AccountName and AccountKey, or SharedAccessSignature',
    { tableName: 'stowage', connectionString: 'AccountName=a' },
  ],
  ['it lacks TableEndpoint or AccountName', { tableName: 'stowage', connectionString: 'AccountKey=a2V5' }],
  ['it lacks settings like NAME=VALUE', { tableName: 'stowage', connectionString: 'a2V5' }],
  [
    'endpoint is http: on another machine (azurite)',
    { tableName: 'stowage', connectionString: 'AccountName=a;AccountKey=a2V5;TableEndpoint=http://azurite:10002/a' },
  ],
  ['azureTablesDriver: endpoint must be an address like https://', { ...AZURE, endpoint: '127.0.0.1:10002/account' }],
  [
    'endpoint is http: on another machine (10.0.0.7): give an https: address',
    { ...AZURE, endpoint: 'http://10.0.0.7/account' },
  ],
  ['on another machine (notlocalhost)', { ...AZURE, endpoint: 'http://notlocalhost/account' }],
  ['on another machine (127.0.0.1.example.org)', { ...AZURE, endpoint: 'http://127.0.0.1.example.org/account' }],
];

const BAD_MEMORY: [told: string, options: unknown][] = [
  ['memoryDriver has no option "sate": it takes state, limits, faults', { sate: {} }],
];

describe.each([
  ['datastoreDriver', datastoreDriver as Untyped, BAD_DATASTORE],
  ['azureTablesDriver', azureTablesDriver as Untyped, BAD_AZURE],
  ['memoryDriver', memoryDriver as Untyped, BAD_MEMORY],
])('%s says at once what is wrong', (_, open, cases) => {
  test.each(cases)('%s', (told, options) => {
    expect(() => open(options)).toThrow(TypeError);
    expect(() => open(options)).toThrow(told);
  });
});

test.each([
  [
    'of the portal',
    'DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=a2V5Pw==;EndpointSuffix=core.chinacloudapi.cn',
    { endpoint: 'https://acc.table.core.chinacloudapi.cn', credential: { name: 'acc', key: 'a2V5Pw==' } },
  ],
  [
    'of a name and a key',
    'AccountName=acc;AccountKey=a2V5;',
    { endpoint: 'https://acc.table.core.windows.net', credential: { name: 'acc', key: 'a2V5' } },
  ],
  [
    'of a signature',
    'TableEndpoint=https://acc.table.core.windows.net/;SharedAccessSignature=sv=1&sig=a+b=',
    { endpoint: 'https://acc.table.core.windows.net/', credential: { signature: 'sv=1&sig=a+b=' } },
  ],
  [
    'of an emulator',
    'DefaultEndpointsProtocol=http;AccountName=acc;AccountKey=a2V5;TableEndpoint=http://127.0.0.1:1/acc',
    { endpoint: 'http://127.0.0.1:1/acc', credential: { name: 'acc', key: 'a2V5' } },
  ],
  [
    'of the emulator on this machine',
    'UseDevelopmentStorage=true',
    {
      endpoint: 'http://127.0.0.1:10002/devstoreaccount1',
      credential: { name: AZURITE_ACCOUNT_NAME, key: AZURITE_ACCOUNT_KEY },
    },
  ],
])('the Azure driver takes a connection string %s', async (_, connectionString, account) => {
  expect(accountIn(connectionString)).toEqual(account);
  await expectOpen(azureTablesDriver({ connectionString, tableName: 'stowage' }));
});

test.each([
  ['a key', { ...AZURE, credential: { name: 'account', key: 'secret!' } }],
  ['a connection string', { tableName: 'stowage', connectionString: 'AccountKey=secret' }],
  ['a signature in an address', { ...AZURE, endpoint: '127.0.0.1:10002/account?sig=secret' }],
])('the refusal of %s does not repeat it', (_, options) => {
  expect(() => azureTablesDriver(options)).toThrow(expect.not.stringContaining('secret') as string);
});

async function expectOpen(driver: Driver): Promise<void> {
  expect(driver.limits.provider).toMatch(/^(datastore|azure-tables)$/);
  await driver.close();
}

const LOOPBACK_HOSTS = '127.0.0.1 127.8.0.1 LOCALHOST azurite.localhost 0.0.0.0 [::1] [::]';
const LOOPBACK = LOOPBACK_HOSTS.split(' ').map((host) => `http://${host}:8081`);

test.each(LOOPBACK)('http: to %s needs no permission', async (endpoint) => {
  await expectOpen(datastoreDriver({ projectId, endpoint }));
  await expectOpen(azureTablesDriver({ ...AZURE, endpoint }));
});

test('http: to another machine is taken where it is allowed', async () => {
  const endpoint = 'http://emulator:8081';
  await expectOpen(datastoreDriver({ projectId, endpoint, allowInsecureConnection: true }));
  await expectOpen(azureTablesDriver({ ...AZURE, endpoint, allowInsecureConnection: true }));
});

test.each([
  ['memoryDriver', () => memoryDriver()],
  ['datastoreDriver', () => datastoreDriver(DATASTORE)],
  ['azureTablesDriver', () => azureTablesDriver(AZURE)],
])('await using closes what %s opened', async (_, open) => {
  const driver = open();
  const close = vi.spyOn(driver, 'close');
  {
    await using used = driver;
    expect(used.limits.provider).not.toBe('');
  }
  expect(close).toHaveBeenCalledOnce();
});

test('the Datastore driver takes credentials alone, and with an address', async () => {
  await expectOpen(datastoreDriver({ projectId, auth }));
  await expectOpen(datastoreDriver({ projectId, auth, endpoint: 'https://example.org' }));
});

test.each([
  ['memory', ['memoryDriver', 'memoryState']],
  ['datastore', ['datastoreDriver']],
  ['azure-tables', ['azureTablesDriver']],
])('the entry of %s exports what its users need and nothing else', async (name, exported) => {
  const entry = (await import(`../../shared/drivers/${name}.ts`)) as object;
  expect(Object.keys(entry).sort()).toEqual(exported);
});
