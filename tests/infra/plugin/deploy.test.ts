// `serverless deploy` on a machine whose terraform, gcloud and az are in memory, to functions that
// check what the real ones would check of a request.
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import type { Context } from '../../../infra/plugin/context/deploy-context.ts';
import { failureOf, type Machine, PROVIDER_SETTINGS, startMachine, verbsOf } from './stand-ins/machine.ts';
import { type Answer, SUBSCRIPTION, UNREGISTERED } from './stand-ins/stand-in-tools.ts';

const NOW = { isPlanOnly: false } as const;
const PLAN = { isPlanOnly: true } as const;
const UPLOAD = 'az functionapp deployment source config-zip';
let machine: Machine;

beforeEach(async () => {
  machine = await startMachine();
});

const uploads = (): string[] => machine.taken().filter((call) => call.startsWith(UPLOAD));

test('deploy plans both clouds before it touches one, then applies, uploads and tries out each', async () => {
  await deploy(machine.contextOf(), NOW);
  expect(verbsOf(machine.calls).join(', ')).toBe(
    'gcp init, gcp workspace, gcp show, azure init, azure workspace, azure show, gcp output, gcp plan, ' +
      'gcp show, azure output, azure plan, azure show, gcp apply, gcp output, azure apply, azure output',
  );
  expect(uploads()).toEqual(
    ['records', 'compare'].map(
      (name) =>
        `${UPLOAD} --subscription ${SUBSCRIPTION} --resource-group stowage-dev --name ${name}-app --src ${machine.outDir}/azure-${name}.zip`,
    ),
  );
  for (const cloud of ['gcp', 'azure'])
    expect(machine.deployed.requests.filter((request) => request.startsWith(cloud))).toEqual([
      `${cloud} GET /v1/health`,
      `${cloud} GET /v1/health`,
      `${cloud} PUT /v1/tables/stowage-smoke`,
      `${cloud} PUT /v1/tables/stowage-smoke/records/smoke`,
      `${cloud} GET /v1/tables/stowage-smoke/records/smoke`,
      `${cloud} DELETE /v1/tables/stowage-smoke/records/smoke`,
      `${cloud} POST /v1/compare/doctor`,
      `${cloud} POST /v1/compare/doctor`,
      `${cloud} GET /v1/tables`,
    ]);
  expect(machine.said.join('\n')).toMatch(/gcp: healthy[^]*azure: healthy[^]*tables {3}users/);
  const files = ['gcp-dev.tfvars.json', 'azure-dev.tfvars.json', 'endpoints-dev.json'];
  const texts = await Promise.all(files.map((file) => readFile(path.join(machine.outDir, file), 'utf8')));
  const everything = [...machine.said, ...texts, ...machine.calls].join('\n');
  expect(everything).not.toMatch(/first-\w+-key|an-identity-token|an-azure-function-key|a-token/);
});

test('deploy gives Terraform the settings of serverless.yml', async () => {
  const gcp = { ...PROVIDER_SETTINGS.gcp, project: 'other-project', invokers: ['deployer', 'group:all@example.com'] };
  const alerts = { email: 'ops@example.com', errorPercent: 1, latencyMs: 2_000, requestsMin: 100 };
  await deploy(machine.contextOf({ gcp, alerts }), PLAN);
  expect(await machine.variablesOf('gcp')).toMatchObject({
    service: 'stowage',
    stage: 'dev',
    project: 'other-project',
    region: 'us-east4',
    processors_max: 20,
    invokers: ['user:somebody@example.com', 'group:all@example.com'],
    alerts: { email: 'ops@example.com', error_percent: 1, latency_ms: 2_000, requests_min: 100 },
    functions: {
      records: { concurrency: 32, instances_max: 4, memory_mb: 2_048, keys: ['read', 'write', 'admin'] },
    },
  });
  const azure = await machine.variablesOf('azure');
  expect(azure).toMatchObject({
    subscription_id: SUBSCRIPTION,
    table: 'stowage',
    replication: 'LRS',
    logs_gb_daily: 1,
    functions: { compare: { instances_max: 40, keys: ['compare'] } },
  });
  expect(azure['resource_providers']).toEqual([UNREGISTERED]);
});

test('deploy gives the functions the settings of the store', async () => {
  const store = {
    ...PROVIDER_SETTINGS.store,
    containerBytesMax: 65_536,
    corsOrigins: ['https://a.example', 'https://b.example'],
    otlpEndpoint: 'https://collector.example',
  };
  await deploy(machine.contextOf({ store }), PLAN);
  for (const cloud of ['gcp', 'azure'] as const)
    expect((await machine.variablesOf(cloud))['environment']).toEqual({
      STOWAGE_TIMEOUT_MS: '25000',
      // The transport is that of the SDK unless it is said otherwise.
      STOWAGE_TRANSPORT: 'sdk',
      STOWAGE_CONTAINER_BYTES_MAX: '65536',
      STOWAGE_CORS_ORIGINS: 'https://a.example,https://b.example',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
    });
  await deploy(machine.contextOf({ store: { ...store, transport: 'own' } }), PLAN);
  expect((await machine.variablesOf('gcp'))['environment']).not.toHaveProperty('STOWAGE_TRANSPORT');
});

test('deploy names a service account as one, and asks for its tokens by audience', async () => {
  await deploy(machine.contextOf(), NOW);
  machine.answer(
    { to: 'gcloud auth list', stdout: 'ci@some-project.iam.gserviceaccount.com' },
    { to: 'gcloud config get-value account', stdout: 'ci@some-project.iam.gserviceaccount.com' },
  );
  await deploy(machine.contextOf(), NOW);
  const both = ['serviceAccount:ci@some-project.iam.gserviceaccount.com', 'user:somebody@example.com'];
  // Who deployed before may still.
  expect(await machine.variablesOf('gcp')).toMatchObject({ deployers: both, invokers: both });
  expect(machine.calls.join('\n')).toContain('print-identity-token --audiences=http://127.0.0.1:');
});

test('deploy lets only the deployers in that serverless.yml names', async () => {
  const deployers = ['user:another@example.com'];
  await deploy(machine.contextOf({ gcp: { ...PROVIDER_SETTINGS.gcp, deployers } }), PLAN);
  expect(await machine.variablesOf('gcp')).toMatchObject({ deployers, invokers: deployers });
});

test('deploy --plan touches nothing', async () => {
  await deploy(machine.contextOf(), PLAN);
  expect(machine.said.at(-1)).toContain('nothing was touched');
  expect(machine.calls.filter((call) => /apply|config-zip|set|add/.test(call))).toEqual([]);
  expect(machine.deployed.requests).toEqual([]);
});

test('deploy packages after it has found all that it needs, and before it plans', async () => {
  let packedAt = -1;
  const pack = (): Promise<void> => Promise.resolve(void (packedAt = machine.calls.length));
  await deploy(machine.contextOf({ cloud: 'gcp' }), { ...PLAN, pack });
  expect(verbsOf(machine.calls.slice(packedAt))).toEqual(['gcp output', 'gcp plan', 'gcp show']);
  packedAt = -1;
  await machine.without('gcloud');
  expect(await failureOf(deploy(machine.contextOf(), { ...PLAN, pack }))).toContain('gcloud, the Google Cloud CLI');
  expect(packedAt).toBe(-1);
});

describe('before anything is touched', () => {
  test('deploy says all that is missing at once, each with what mends it', async () => {
    await machine.without('terraform');
    await machine.without('az');
    machine.answer(
      { to: 'gcloud auth application-default', code: 1, stderr: 'no credentials' },
      { to: 'gcloud billing', stdout: 'False' },
    );
    const message = await failureOf(deploy(machine.contextOf(), NOW));
    for (const part of [
      'Nothing was touched',
      'terraform or tofu, 1.11 or newer',
      'az, the Azure CLI',
      'gcloud auth login --update-adc',
      'gcloud billing projects link some-project',
    ])
      expect(message).toContain(part);
    expect(verbsOf(machine.calls)).toEqual([]);
  });

  const PRINCIPAL = 'principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/subject/s';
  const RUNTIMES = 'az functionapp list-flexconsumption-runtimes --location';
  const DEVIATIONS: readonly (readonly [string, readonly Answer[], string])[] = [
    ['an old Terraform', [{ to: 'terraform version', stdout: '{"terraform_version":"1.5.7"}' }], 'this is 1.5'],
    ['a project that is not theirs', [{ to: 'gcloud projects', code: 1 }], 'project some-project, or access'],
    [
      'a federated login without an account',
      [{ to: 'gcloud auth list', stdout: PRINCIPAL }],
      'a service account to act as',
    ],
    ['no project', [{ to: 'gcloud config get-value project', stdout: '(unset)' }], 'gcloud config set project'],
    ['an expired login at Azure', [{ to: 'az account get-access-token', code: 1 }], 'still valid'],
    [
      'a region without Flex Consumption',
      [{ to: 'az functionapp list-flexconsumption-locations', stdout: 'West US 3' }],
      'with one of westus3',
    ],
    [
      'a region without the functions’ version of Node.js',
      [{ to: `${RUNTIMES} eastus `, stdout: '20\n22' }],
      'Flex Consumption with Node.js 24 in eastus\n      --param azureRegion=REGION with one of westeurope',
    ],
  ];
  test.each(DEVIATIONS)('deploy with %s says what to do', async (_, deviations, part) => {
    machine.answer(...deviations);
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(part);
    expect(verbsOf(machine.calls)).toEqual([]);
  });

  test('a failed plan of one cloud keeps the other as it is', async () => {
    machine.answer({ to: 'terraform azure plan', code: 1, stderr: 'Error: Invalid value' });
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('azure: terraform plan failed');
    expect(machine.calls.filter((call) => call.includes('apply'))).toEqual([]);
  });
});

describe('an apply', () => {
  test('that fails says how far it came, and the same command goes on', async () => {
    machine.answer({ to: 'terraform azure apply', code: 1, stderr: 'Error: quota exceeded' });
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(
      'gcp: deployed; azure: begun. Once that is mended, the same command goes on from here:\n  npx serverless deploy --stage dev',
    );
    machine.answer();
    await deploy(machine.contextOf(), NOW);
    expect(machine.said.join('\n')).toContain('azure: healthy');
  });

  test.each([
    ['Quota exceeded', 0, 'terraform apply failed'],
    ['Build failed with status: FAILURE and message: npm error', 0, 'terraform apply failed'],
    ['missing permission on the build service account', 180_000, 'applied again, in vain'],
    ['Error 404: Cannot find metric(s) that match type = "a"', 180_000, 'applied again, in vain'],
  ])('that meets %j is repeated for %d ms, each time by a new plan', async (cause, waitedMs, part) => {
    machine.answer({ to: 'terraform gcp apply', code: 1, stderr: `Error: ${cause}` });
    expect(await failureOf(deploy(machine.contextOf({ cloud: 'gcp' }), NOW))).toContain(part);
    expect(machine.clock.waitedMs()).toBe(waitedMs);
    const repeated = waitedMs / 60_000;
    expect(verbsOf(machine.calls).filter((verb) => verb === 'gcp plan')).toHaveLength(1 + repeated);
  });

  test('that was cut off is repeated by a new plan, which is read before it is applied', async () => {
    machine.answer({ to: 'terraform gcp apply', code: 1, stderr: 'Error: does not have x access', times: 1 });
    const context = machine.contextOf({ cloud: 'gcp' });
    const sleep = (ms: number): Promise<void> => {
      machine.plans.gcp = 'region';
      return context.clock.sleep(ms);
    };
    const message = await failureOf(deploy({ ...context, clock: { ...context.clock, sleep } }, NOW));
    expect(message).toContain('DELETES THE DATA');
    expect(verbsOf(machine.calls).filter((verb) => verb === 'gcp apply')).toHaveLength(1);
  });
});

describe('the function apps', () => {
  test('get a package that changed, and get it again if that broke off', async () => {
    await deploy(onAzure(), NOW);
    machine.taken();
    await deploy(onAzure(), NOW);
    expect(uploads()).toEqual([]);
    const write = (code: string): Promise<void> => writeFile(path.join(machine.outDir, 'azure-records.zip'), code);
    await write('other code');
    machine.answer({ to: UPLOAD, code: 1, stderr: 'ERROR: no network' });
    expect(await failureOf(deploy(onAzure(), NOW))).toContain('records: ERROR: no network');
    machine.answer();
    machine.taken();
    // Some of the other code may be there.
    await write('records');
    await deploy(onAzure(), NOW);
    expect(uploads()).toEqual([expect.stringContaining('azure-records.zip')]);
  });

  test('lose the provider’s own settings, which keep them from starting, before the upload', async () => {
    machine.answer({ to: 'az functionapp config appsettings list', stdout: 'AzureWebJobsStorage', times: 1 });
    await deploy(onAzure(), NOW);
    const at = (part: string): number => machine.calls.findIndex((call) => call.includes(part));
    expect(machine.calls[at('appsettings delete')]).toContain('--setting-names AzureWebJobsStorage');
    expect(at('appsettings delete')).toBeLessThan(at('config-zip'));
  });

  test('ask again for a key that was refused while their right to it was young', async () => {
    machine.answer({ to: 'az rest --method get', stdout: reference('AccessToKeyVaultDenied'), times: 1 });
    await deploy(onAzure(), NOW);
    expect(machine.calls.filter((call) => call.includes('configreferences/appsettings/refresh'))).toHaveLength(1);
    expect(machine.clock.waitedMs()).toBe(0);
  });

  test('without a key are named, with the secret', async () => {
    machine.answer({ to: 'az rest --method get', stdout: reference('AccessToKeyVaultDenied') });
    expect(await failureOf(deploy(onAzure(), NOW))).toContain(
      'records-app does not get the secret keys-write of the key vault devrecords-0: AccessToKeyVaultDenied',
    );
    expect(machine.clock.waitedMs()).toBe(600_000);
  });
});

describe('the transports', () => {
  const BROKEN = '{"checks":2,"broken":[{"check":"a patch keeps the others","why":"found 1, expected 2"}]}';
  const { store } = PROVIDER_SETTINGS;

  const OWN = "the drivers' own requests";
  test.each([
    [
      'are both tried, and the one in use is told with the reason',
      '{"checks":2,"broken":[]}',
      `gcp: store.transport is auto, so requests go over the cloud's SDK, which kept all 2 promises that were tried; ${OWN} kept all 2 promises that were tried. To use them, which takes less processor time, set in serverless.yml: transport: own`,
    ],
    [
      'that break a promise are not offered',
      BROKEN,
      `${OWN} broke 1 of 2 promises, the first that a patch keeps the others: found 1, expected 2`,
    ],
    ['that cannot be tried are told so, and stop nothing', 'nothing to read', `${OWN} could not be tried: SyntaxError`],
  ])('%s', async (_, examined, told) => {
    machine.deployed.examineAs('own', examined);
    await deploy(machine.contextOf({ cloud: 'gcp' }), NOW);
    const said = machine.said.join('\n');
    expect(said).toContain(told);
    expect(said.includes('transport: own')).toBe(told.endsWith('transport: own'));
  });

  test('that are in use and break a promise fail the deployment', async () => {
    machine.deployed.examineAs('own', BROKEN);
    const context = machine.contextOf({ cloud: 'gcp', store: { ...store, transport: 'own' } });
    expect(await failureOf(deploy(context, NOW))).toContain(
      "gcp: store.transport is own, so requests go over the drivers' own requests, which broke 1 of 2 promises",
    );
  });
});

test('deploy fails where functions refuse their callers, and writes no file of endpoints', async () => {
  machine.deployed.answerWith('gcp', 403);
  const message = await failureOf(deploy(machine.contextOf(), NOW));
  expect(message).toMatch(/deployed, but it does not work[^]*answered 403[^]*gcp: begun; azure: not begun/);
  await expect(stat(path.join(machine.outDir, 'endpoints-dev.json'))).rejects.toThrow('ENOENT');
});

function onAzure(): Context {
  return machine.contextOf({ cloud: 'azure' });
}

/** An app's reference to a secret, in the resource manager's words. */
function reference(status: string): string {
  return JSON.stringify({
    value: [{ name: 'a', properties: { status, secretName: 'keys-write', vaultName: 'devrecords-0' } }],
  });
}
