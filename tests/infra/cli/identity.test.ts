// How gcloud is asked for an ID token, by who is logged in: people, accounts with a key or a
// machine, and federated logins, which workflows have.
import { expect, test } from 'vitest';
import { type CloudEndpoint, headersFor } from '../../../infra/cli/endpoints.ts';

const URL = 'https://records.example.run.app';
const ACCOUNT = 'ci@some-project.iam.gserviceaccount.com';
const endpoint: CloudEndpoint = {
  cloud: 'gcp',
  urls: { records: URL },
  project: 'some-project',
  region: 'us-east4',
  keys: { read: 'stowage-dev-keys-read' },
};

/** gcloud, logged in as `account`; `refused` are the arguments that it does not take. */
function gcloudOf(account: string, refused?: string): { asked: string[]; gate: Promise<string | undefined> } {
  const asked: string[] = [];
  const headers = headersFor(endpoint, 'records', 'read', async (_tool, args) => {
    const call = args.join(' ');
    if (call === 'config get-value account') return account;
    if (call.startsWith('secrets')) return 'an-app-key';
    asked.push(call);
    if (refused !== undefined && call.endsWith(refused)) throw new Error('Invalid account type for `--audiences`');
    return `token ${asked.length}`;
  });
  return { asked, gate: headers.then((all) => all['X-Serverless-Authorization']) };
}

test.each([
  ['people name no audience', 'somebody@example.com', undefined, ['']],
  ['a service account names the function as the audience', ACCOUNT, undefined, [` --audiences=${URL}`]],
  [
    'a federated login, which has no ID token, has its account make one',
    ACCOUNT,
    `print-identity-token --audiences=${URL}`,
    [` --audiences=${URL}`, ` --impersonate-service-account=${ACCOUNT} --audiences=${URL} --include-email`],
  ],
])('%s', async (_, account, refused, tried) => {
  const { asked, gate } = gcloudOf(account, refused);
  expect(await gate).toBe(`Bearer token ${tried.length}`);
  expect(asked).toEqual(tried.map((args) => `auth print-identity-token${args}`));
});

test('a federated login without an account is told to impersonate one', async () => {
  const { asked, gate } = gcloudOf('principal://iam.googleapis.com/projects/1/locations/global/pools/p/subject/s');
  await expect(gate).rejects.toThrow('impersonate a service account that has roles/run.invoker');
  expect(asked).toEqual([]);
});

/** The app key that is sent, if the secret has this text. */
async function sentOf(secret: string): Promise<string | undefined> {
  const ask = async (_tool: string, [verb]: readonly string[]) =>
    verb === 'secrets' ? secret : 'somebody@example.com';
  return (await headersFor(endpoint, 'records', 'read', ask))['Authorization'];
}

test('the deployment’s own key is sent, as callers send it, and no caller’s', async () => {
  const named = 'billing(tables=a*)=0123456789abcdef';
  expect(await sentOf(`${named},new-key-000000000000,old-key-000000000000`)).toBe('Bearer new-key-000000000000');
  await expect(sentOf(named)).rejects.toThrow('`npx serverless keys --add`');
});
