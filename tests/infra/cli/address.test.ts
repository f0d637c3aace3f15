// Addresses of stores on the command line: which are refused, and where the others lead.
import { expect, inject, test } from 'vitest';
import { storeAt } from '../../../infra/cli/data/address.ts';
import type { AskTool } from '../../../infra/cli/external-tools.ts';
import type { Store } from '../../../shared/store/index.ts';
import { onDatastore, stowage } from './run-command.ts';

function noTool(): never {
  throw new Error('no tool is asked');
}

function at(option: string, address: string, env: Record<string, string> = {}, ask: AskTool = noTool): Store {
  return storeAt(option, address, { ask, env, createTable: true });
}

const NONE =
  'somewhere gcp:// azure://a https://a/b azure://a/b/c gcp://p/d/e gcp://p/d#e gcp://me@p gcp://:secret@p gcp://p:80';

test.each(NONE.split(' '))('a command refuses the address %s', (address) => {
  expect(() => at('--from', address)).toThrow('--from takes gcp://PROJECT/DATABASE or azure://ACCOUNT/TABLE');
});

test.each([
  ['gcp://p?namspace=test', 'gcp:// takes the parameters namespace and kind, each once, not "namspace"'],
  ['gcp://p?kind=a&namespace=b&kind=c', 'each once, not "kind"'],
  ['azure://a/b?namespace=c', 'azure:// takes no parameters, not "namespace"'],
])('a command refuses the parameters of %s', (address, message) => {
  expect(() => at('--to', address)).toThrow(
    expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) as string }),
  );
});

test('the host of an emulator may be written in each usual way', async () => {
  const { port } = new URL(inject('embeddedEndpoint'));
  for (const host of ['127.0.0.1', '0.0.0.0', 'datastore.localhost', 'http://localhost'])
    expect(
      await stowage(['tables', '--from', 'gcp://stowage-data-test?namespace=nothing'], {
        env: { DATASTORE_EMULATOR_HOST: `${host}:${port}` },
      }),
    ).toEqual({ code: 0, stdout: '', stderr: 'There are no tables.\n' });
});

test('empty variables count as unset, and a connection string is used for its own account only', async () => {
  const asked: string[] = [];
  const ask: AskTool = (tool) => {
    asked.push(tool);
    return Promise.reject(new Error(`${tool} was asked`));
  };
  const empty = { DATASTORE_EMULATOR_HOST: '', STOWAGE_TABLES_ENDPOINT: '', STOWAGE_TABLES_KEY: '' };
  const env = { ...empty, AZURE_STORAGE_CONNECTION_STRING: 'UseDevelopmentStorage=true' };
  for (const address of ['gcp://p', 'azure://a/tables']) {
    await using store = at('--from', address, env, ask);
    await expect(store.tables()).rejects.toMatchObject({ code: 'unavailable' });
  }
  expect([...new Set(asked)]).toEqual(['gcloud', 'az']);
  await expect(at('--from', 'azure://devstoreaccount1/tables', env).close()).resolves.toBeUndefined();
});

test.each([
  ['a wrong connection string', { AZURE_STORAGE_CONNECTION_STRING: 'AccountName=a;secret' }, /STRING: (?!.*secret)/],
  ['a login for an http: address', { STOWAGE_TABLES_ENDPOINT: 'http://azurite:10002/a' }, /set STOWAGE_TABLES_KEY/],
])('%s is refused by the name of its variable', (_, env, message) => {
  expect(() => at('--from', 'azure://a/tables', env)).toThrow(
    expect.objectContaining({ name: 'UsageError', message: expect.stringMatching(message) as string }),
  );
});

test('the id of a project may begin with a domain', async () => {
  const from = ['--from', 'gcp://example.com:p?namespace=domain'];
  const env = onDatastore();
  expect(await stowage(['put', 't', 'a', '1', '--create', 'key', ...from], { env })).toMatchObject({ code: 0 });
  expect((await stowage(['get', 't', 'a', ...from], { env })).stdout).toBe('1\n');
  expect(await stowage(['explain', 't', ...from], { env })).toMatchObject({ code: 0 });
  expect((await stowage(['scan', 't', '--from', 'gcp://p?namespace=domain'], { env })).code).toBe(1);
});
