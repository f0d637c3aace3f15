// `serverless deploy`, on a machine with stand-ins for terraform, gcloud and az that write down how
// they were called.
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import type { ProviderSettings } from '../../../infra/plugin/context/schema.ts';
import { AT_ONCE, failureOf, type Machine, startMachine, verbsOf } from './stand-ins/machine.ts';
import { PROVIDER_SETTINGS } from './stand-ins/settings.ts';
import { type Answer, SUBSCRIPTION } from './stand-ins/tools.ts';

const NOW = { isPlanOnly: false, ...AT_ONCE } as const;
let machine: Machine;

beforeEach(async () => {
  machine = await startMachine();
});

describe('deploy', () => {
  test('plans both clouds before it touches one, then applies, uploads and tries out each', async () => {
    await deploy(machine.contextOf(), NOW);
    const calls = await machine.tools.calls();
    expect(verbsOf(calls).join(', ')).toBe(
      'gcp init, gcp workspace, gcp show, azure init, azure workspace, azure show, gcp output, gcp plan, ' +
        'gcp show, azure output, azure plan, azure show, gcp apply, gcp output, azure apply, azure output',
    );
    expect(calls.filter((call) => call.includes('config-zip'))).toEqual(
      ['records', 'compare'].map(
        (name) =>
          `az functionapp deployment source config-zip --subscription ${SUBSCRIPTION} --resource-group stowage-dev --name ${name}-app --src ${machine.outDir}/azure-${name}.zip`,
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
        `${cloud} GET /v1/tables`,
      ]);
    expect(machine.said.join('\n')).toMatch(/gcp: healthy[^]*azure: healthy[^]*tables {3}users/);
  });

  test('turns to the stage’s own state', async () => {
    await deploy(machine.contextOf({ stage: 'prod' }), { ...NOW, isPlanOnly: true });
    expect(await machine.tools.calls()).toContain('terraform azure workspace select -or-create=true prod');
  });

  test('keeps app keys out of arguments, output and files, and gives them to plan and apply alone', async () => {
    await deploy(machine.contextOf(), NOW);
    const calls = await machine.tools.calls();
    const withKeys = calls.filter((call) => call.endsWith('(with keys)')).map((call) => verbsOf([call])[0]);
    expect(withKeys).toEqual(['gcp plan', 'azure plan', 'gcp apply', 'azure apply']);
    const files = ['gcp-dev.tfvars.json', 'azure-dev.tfvars.json', 'endpoints-dev.json'];
    const texts = await Promise.all(files.map((file) => readFile(path.join(machine.outDir, file), 'utf8')));
    const everything = [...machine.said, ...texts, ...calls].join('\n');
    expect(everything).not.toMatch(/gcp-app-key|azure-app-key|an-identity-token|an-azure-function-key|a-token/);
  });

  test('gives Terraform what serverless.yml says', async () => {
    const gcp = { ...PROVIDER_SETTINGS.gcp, project: 'other-project', invokers: ['deployer', 'group:all@example.com'] };
    await deploy(
      machine.contextOf({
        gcp,
        alerts: { email: 'ops@example.com', errorPercent: 1, latencyMs: 2_000, requestsMin: 100 },
      }),
      NOW,
    );
    expect(await machine.variablesOf('gcp')).toMatchObject({
      service: 'stowage',
      stage: 'dev',
      project: 'other-project',
      region: 'us-east4',
      point_in_time_recovery: false,
      backup_days: 0,
      processors_max: 20,
      invokers: ['user:somebody@example.com', 'group:all@example.com'],
      keys_version: 1,
      alerts: { email: 'ops@example.com', error_percent: 1, latency_ms: 2_000, requests_min: 100 },
      budget: null,
      functions: { records: { concurrency: 32, instances_max: 4, memory_mb: 2_048, timeout_seconds: 60 } },
    });
    expect(await machine.variablesOf('azure')).toMatchObject({
      subscription_id: SUBSCRIPTION,
      table: 'stowage',
      replication: 'LRS',
      logs_gb_daily: 1,
      functions: { compare: { instances_max: 40 } },
    });
  });

  test.each<readonly [Partial<ProviderSettings['store']>, object]>([
    [{}, {}],
    [
      {
        containerBytesMax: 65_536,
        transport: 'sdk',
        corsOrigins: ['https://a.example', 'https://b.example'],
        otlpEndpoint: 'https://collector.example',
      },
      {
        STOWAGE_CONTAINER_BYTES_MAX: '65536',
        STOWAGE_TRANSPORT: 'sdk',
        STOWAGE_CORS_ORIGINS: 'https://a.example,https://b.example',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
      },
    ],
  ])('tells the functions what %j says of the store', async (store, told) => {
    await deploy(machine.contextOf({ store: { ...PROVIDER_SETTINGS.store, ...store } }), { ...NOW, isPlanOnly: true });
    for (const cloud of ['gcp', 'azure'])
      expect((await machine.variablesOf(cloud))['environment']).toEqual({ STOWAGE_TIMEOUT_MS: '25000', ...told });
  });

  test('names a service account as one, and asks for its tokens by audience', async () => {
    await machine.tools.answer(
      { to: 'gcloud auth list', stdout: 'ci@some-project.iam.gserviceaccount.com' },
      { to: 'gcloud config get-value account', stdout: 'ci@some-project.iam.gserviceaccount.com' },
    );
    await deploy(machine.contextOf(), NOW);
    expect(await machine.variablesOf('gcp')).toMatchObject({
      invokers: ['serviceAccount:ci@some-project.iam.gserviceaccount.com'],
    });
    expect((await machine.tools.calls()).join('\n')).toContain('print-identity-token --audiences=http://127.0.0.1:');
  });

  test('touches one cloud alone when told so', async () => {
    await deploy(machine.contextOf({ cloud: 'azure' }), NOW);
    expect((await machine.tools.calls()).filter((call) => /^gcloud|terraform gcp/.test(call))).toEqual([]);
  });

  test('as a plan touches nothing', async () => {
    await deploy(machine.contextOf(), { ...NOW, isPlanOnly: true });
    expect(machine.said.at(-1)).toContain('nothing was touched');
    expect((await machine.tools.calls()).filter((call) => /apply|config-zip/.test(call))).toEqual([]);
    expect(machine.deployed.requests).toEqual([]);
  });

  test('packages once it has found all that it needs, and before it plans', async () => {
    const pack = async (): Promise<void> => void (await machine.tools.calls());
    await deploy(machine.contextOf({ cloud: 'gcp' }), { ...NOW, isPlanOnly: true, pack });
    expect(verbsOf(await machine.tools.calls())).toEqual(['gcp output', 'gcp plan', 'gcp show']);
    await machine.tools.without('gcloud');
    const failure = await failureOf(deploy(machine.contextOf(), { ...NOW, isPlanOnly: true, pack }));
    expect(failure).toContain('gcloud, the Google Cloud CLI');
    // Had it packaged, they were forgotten.
    expect(await machine.tools.calls()).not.toEqual([]);
  });

  test('says all that is missing at once, each with what mends it, and touches nothing', async () => {
    await machine.tools.without('terraform');
    await machine.tools.without('az');
    await machine.tools.answer(
      { to: 'gcloud auth application-default', code: 1, stderr: 'no credentials' },
      { to: 'gcloud billing', stdout: 'False' },
      { to: 'gcloud services list', stdout: 'serviceusage.googleapis.com' },
    );
    const message = await failureOf(deploy(machine.contextOf(), NOW));
    for (const part of [
      'Nothing was touched',
      'terraform or tofu, 1.11 or newer',
      'az, the Azure CLI',
      'gcloud auth login --update-adc',
      'gcloud billing projects link some-project',
      'gcloud services enable cloudresourcemanager.googleapis.com --project=some-project',
    ])
      expect(message).toContain(part);
    expect(verbsOf(await machine.tools.calls())).toEqual([]);
  });

  test('enables the APIs that Terraform begins with, if nothing else is missing', async () => {
    await machine.tools.answer({ to: 'gcloud services list', stdout: 'storage.googleapis.com' });
    await deploy(machine.contextOf(), NOW);
    const enabled = 'gcloud services enable serviceusage.googleapis.com cloudresourcemanager.googleapis.com';
    const calls = await machine.tools.calls();
    const at = (begin: string): number => calls.findIndex((call) => call.startsWith(begin));
    expect(at(enabled)).toBeGreaterThan(0);
    expect(at(enabled)).toBeLessThan(at('terraform gcp init'));
    expect(machine.said).toContain(`${enabled} --project=some-project`);
  });

  test('as a plan enables no API, and says what does', async () => {
    await machine.tools.answer({ to: 'gcloud services list', stdout: 'storage.googleapis.com' });
    const message = await failureOf(deploy(machine.contextOf(), { ...NOW, isPlanOnly: true }));
    expect(message).toContain('gcloud services enable');
    expect((await machine.tools.calls()).filter((call) => call.includes('services enable'))).toEqual([]);
  });

  const PRINCIPAL = 'principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/subject/s';
  const DEVIATIONS: readonly (readonly [string, Answer, string])[] = [
    ['an old Terraform', { to: 'terraform version', stdout: '{"terraform_version":"1.5.7"}' }, 'this is 1.5'],
    ['no login at Google', { to: 'gcloud auth list' }, 'gcloud auth login --update-adc'],
    ['a project that is not theirs', { to: 'gcloud projects', code: 1 }, 'project some-project, or access'],
    [
      'a federated login without an account',
      { to: 'gcloud auth list', stdout: PRINCIPAL },
      'a service account to act as',
    ],
    ['no project', { to: 'gcloud config get-value project', stdout: '(unset)' }, 'gcloud config set project'],
    ['no login at Azure', { to: 'az account', code: 1 }, 'az login'],
    ['an expired login at Azure', { to: 'az account get-access-token', code: 1 }, 'still valid'],
    ['a region without Flex Consumption', { to: 'az functionapp list-flex', stdout: 'West US 3' }, 'one of westus3'],
  ];
  test.each(DEVIATIONS)('with %s says what to do, before anything is touched', async (_, deviation, part) => {
    await machine.tools.answer(deviation);
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(part);
    expect(verbsOf(await machine.tools.calls())).toEqual([]);
  });

  test('with a subscription that is not theirs says so', async () => {
    await machine.tools.answer({ to: 'az account show', code: 1 });
    const azure = { ...PROVIDER_SETTINGS.azure, subscription: SUBSCRIPTION };
    expect(await failureOf(deploy(machine.contextOf({ azure }), NOW))).toContain(
      `the Azure subscription ${SUBSCRIPTION}, or access to it`,
    );
  });

  test('after a failed apply says how far it came, and the same command goes on', async () => {
    await machine.tools.answer({ to: 'terraform azure apply', code: 1, stderr: 'Error: quota exceeded' });
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(
      'gcp: deployed; azure: begun. Once that is mended, the same command goes on from here:\n  npx serverless deploy --stage dev',
    );
    await machine.tools.calls();
    await machine.tools.answer();
    await deploy(machine.contextOf(), NOW);
    expect(verbsOf(await machine.tools.calls())).toContain('azure apply');
  });

  test('after a failed plan touches neither cloud', async () => {
    await machine.tools.answer({ to: 'terraform azure plan', code: 1, stderr: 'Error: Invalid value' });
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain('azure: terraform plan failed');
    expect((await machine.tools.calls()).filter((call) => call.includes('apply'))).toEqual([]);
  });

  test('after a failed upload says what az said', async () => {
    await machine.tools.answer({
      to: 'az functionapp deployment',
      code: 1,
      stderr: 'ERROR: Deployment is still building',
    });
    expect(await failureOf(deploy(machine.contextOf(), NOW))).toContain(
      'azure: the upload failed: records: ERROR: Deployment is still building',
    );
  });

  test('does not call functions that refuse their callers deployed', async () => {
    machine.deployed.answerWith('gcp', 403);
    const message = await failureOf(deploy(machine.contextOf(), NOW));
    expect(message).toMatch(/deployed, but it does not work[^]*answered 403[^]*gcp: begun; azure: not begun/);
  });

  test('does not write a file of endpoints for what is not there', async () => {
    await machine.tools.answer({ to: 'terraform azure apply', code: 1 });
    await failureOf(deploy(machine.contextOf(), NOW));
    await expect(stat(path.join(machine.outDir, 'endpoints-dev.json'))).rejects.toThrow('ENOENT');
  });
});
