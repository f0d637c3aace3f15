// The comparison of deployed functions: servers of this process stand for them, and a function for
// gcloud and az.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { compareDeployed, freshHeaders, linkToDeployed } from '../../../infra/cli/compare-deployed.ts';
import { type CloudEndpoint, headersFor } from '../../../infra/cli/endpoints.ts';
import { EXIT } from '../../../infra/cli/exit.ts';
import { readReport } from '../../../infra/cli/report-files.ts';
import type { Provider } from '../../../shared/lab/kit/dimensions.ts';
import { planSchema } from '../../../shared/lab/plan/plan.ts';
import { fakeCompareApp, serveApp } from '../../functions/compare/fake-app.ts';
import { testFolder } from '../../support/folder.ts';
import { listening } from '../../support/listening.ts';

const KEY = 'a-compare-key-for-this-test';

async function startFunction(provider: Provider): Promise<string> {
  const { url, close } = await serveApp(fakeCompareApp(provider, KEY));
  onTestFinished(close);
  return url;
}

async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${await listening(server)}`;
}

const gcp = (url: string): CloudEndpoint => ({
  cloud: 'gcp',
  urls: { compare: url },
  project: 'p',
  region: 'us-east4',
  keys: { compare: 's' },
});
const azure = (url: string): CloudEndpoint => ({
  cloud: 'azure',
  urls: { compare: url },
  apps: { compare: 'app' },
  subscription: 's',
  resourceGroup: 'g',
  keys: { compare: { vault: 'v', secret: 'k' } },
});

/** Records the calls of gcloud and az. They give a key where secrets are read. */
function fakeTools(key = KEY) {
  const asked: string[] = [];
  const ask = async (tool: string, args: readonly string[]): Promise<string> => {
    asked.push(`${tool} ${args.slice(0, 3).join(' ')}`);
    return args.includes('access') || args.includes('secret') ? key : 'somebody@example.org';
  };
  return { ask, asked };
}

let folder: string;
beforeEach(async () => {
  folder = await testFolder();
});

async function compare(endpoints: readonly CloudEndpoint[], { ask } = fakeTools(), clouds = ['gcp', 'azure'] as const) {
  const endpointsFile = path.join(folder, 'endpoints.json');
  await writeFile(endpointsFile, JSON.stringify({ stage: 'test', endpoints }));
  return await compareDeployed({
    endpointsFile,
    clouds,
    plan: planSchema.parse({ workloads: ['load'], callers: [2], repetitions: 1 }),
    baseline: { report: undefined, conditions: [] },
    outDir: path.join(folder, 'report'),
    circumstances: { command: 'stowage compare', versions: {}, commit: null },
    ask,
    log: () => {},
    signal: new AbortController().signal,
  });
}

test('a comparison of both clouds uses the keys that the tools give, and keeps them out of its report', async () => {
  const [datastore, tables] = await Promise.all([startFunction('datastore'), startFunction('azure-tables')]);
  const tools = fakeTools();
  expect(await compare([gcp(datastore), azure(tables)], tools)).toBe(EXIT.ok);
  const report = await readReport(path.join(folder, 'report', 'compare.json'));
  expect(report.cells).toHaveLength(6);
  expect(await readFile(path.join(folder, 'report', 'compare.html'), 'utf8')).not.toContain(KEY);
  expect(tools.asked.filter((line) => line.startsWith('gcloud secrets'))).toHaveLength(1);
});

test('a comparison with a wrong key ends before its first run, and names the function that refused', async () => {
  const url = await startFunction('datastore');
  const comparing = compare([gcp(url)], fakeTools('another-key-than-theirs'));
  await expect(comparing).rejects.toThrow(`nothing was begun: datastore at ${url} answers HTTP 401`);
  expect(await readdir(folder)).toEqual(['endpoints.json']);
});

test('a comparison runs on a function that does not answer at first, and reports its failures', async () => {
  expect(await compare([gcp(await serverOf((_, outgoing) => outgoing.writeHead(503).end()))])).toBe(EXIT.failed);
  const { failures, providers } = await readReport(path.join(folder, 'report', 'compare.json'));
  expect(failures[0]!.error).toMatch(/^HTTP 503/);
  expect(providers[1]).toMatchObject({ ran: false, why: expect.stringContaining('not in the file') as string });
});

test('a comparison refuses a file that names no function of the clouds', async () => {
  await expect(compare([])).rejects.toThrow('names no function of gcp or azure');
});

test.each(['http://functions.example', 'http://127.0.0.1.example', 'http://localhost@functions.example', 'ftp://a'])(
  'a comparison refuses the address %s before it reads any key',
  async (url) => {
    const tools = fakeTools();
    await expect(compare([gcp(url)], tools)).rejects.toThrow(/https:\/\/|Invalid URL/);
    expect(tools.asked).toEqual([]);
  },
);

test('a comparison follows no redirect, so that another place gets neither app key nor gate', async () => {
  const seen: unknown[] = [];
  const elsewhere = await serverOf((incoming, outgoing) => {
    seen.push(incoming.headers);
    outgoing.end();
  });
  const from = await serverOf((_, outgoing) => outgoing.writeHead(307, { Location: `${elsewhere}/` }).end());
  expect(await compare([azure(from)])).toBe(EXIT.failed);
  expect(seen).toEqual([]);
});

describe('the headers of requests', () => {
  test('keys and tokens are refused to any origin that the file does not name', async () => {
    const headers = freshHeaders([gcp('https://g')], fakeTools().ask);
    for (const url of ['https://g.example/v1', 'http://g/v1', 'https://g:8443/v1'])
      await expect(headers.of(url)).rejects.toThrow('is no function of the file');
  });

  test('keys and tokens are read again after half an hour, and each goes to its own cloud', async () => {
    const tools = fakeTools();
    let nowMs = 0;
    const headers = freshHeaders([gcp('https://g'), azure('https://a')], tools.ask, () => nowMs);
    const first = await headers.of('https://g/v1/compare/cells');
    expect(first).toMatchObject({ Authorization: `Bearer ${KEY}`, 'X-Serverless-Authorization': expect.any(String) });
    expect(await headers.of('https://a/v1/compare/cells')).toHaveProperty('x-functions-key');
    const before = tools.asked.length;
    nowMs = 29 * 60_000;
    await headers.of('https://g/v1/compare/cells');
    expect(tools.asked).toHaveLength(before);
    nowMs = 31 * 60_000;
    await headers.of('https://g/v1/compare/cells');
    expect(tools.asked.length).toBeGreaterThan(before);
  });
});

test('the link to the live page names both functions, and holds the keys in its fragment alone', async () => {
  const file = path.join(folder, 'endpoints.json');
  const endpoints = [gcp('https://one.example'), azure('https://two.example')];
  await writeFile(file, JSON.stringify({ stage: 'dev', endpoints }));
  const link = new URL(await linkToDeployed({ endpointsFile: file, clouds: ['gcp', 'azure'], ask: fakeTools().ask }));
  expect(link.origin + link.pathname + link.search).toBe('https://one.example/v1/compare');
  expect(Object.fromEntries(new URLSearchParams(link.hash.slice(1)))).toEqual({
    'datastore-url': 'https://one.example',
    'datastore-key': KEY,
    'datastore-gate': 'somebody@example.org',
    'azure-tables-url': 'https://two.example',
    'azure-tables-key': KEY,
    'azure-tables-gate': 'somebody@example.org',
  });
});

const FUNCTION = 'https://records.example.run.app';
const ACCOUNT = 'ci@some-project.iam.gserviceaccount.com';

/** gcloud, logged in as `account`; `refused` are the arguments that it does not take. */
function gcloudOf(account: string, refused?: string): { asked: string[]; gate: Promise<string | undefined> } {
  const asked: string[] = [];
  const headers = headersFor(gcp(FUNCTION), 'compare', 'compare', async (_tool, args) => {
    const call = args.join(' ');
    if (call === 'config get-value account') return account;
    if (call.startsWith('secrets')) return 'an-app-key';
    asked.push(call);
    if (refused !== undefined && call.endsWith(refused)) throw new Error('Invalid account type for `--audiences`');
    return `token ${asked.length}`;
  });
  return { asked, gate: headers.then((all) => all['X-Serverless-Authorization']) };
}

// How gcloud is asked for an ID token, by who is logged in; workflows have federated logins.
test.each([
  ['people name no audience', 'somebody@example.com', undefined, ['']],
  ['a service account names the function as the audience', ACCOUNT, undefined, [` --audiences=${FUNCTION}`]],
  [
    'a federated login, which has no ID token, has its account make one',
    ACCOUNT,
    `print-identity-token --audiences=${FUNCTION}`,
    [` --audiences=${FUNCTION}`, ` --impersonate-service-account=${ACCOUNT} --audiences=${FUNCTION} --include-email`],
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
  return (await headersFor(gcp(FUNCTION), 'compare', 'compare', ask))['Authorization'];
}

test('the deployment’s own key is sent, as callers send it, and no caller’s', async () => {
  const named = 'billing(tables=a*)=0123456789abcdef';
  expect(await sentOf(`${named},new-key-000000000000,old-key-000000000000`)).toBe('Bearer new-key-000000000000');
  await expect(sentOf(named)).rejects.toThrow('`npx serverless keys --add`');
});
