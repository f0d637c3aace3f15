// The plugin's commands, with stand-ins for terraform, gcloud and az that write down how they were called, and functions that check what the
// real ones would check of a request.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { deploy } from '../../infra/plugin/deploy.ts';
import { info } from '../../infra/plugin/info.ts';
import { invoke } from '../../infra/plugin/invoke.ts';
import { changeKeys } from '../../infra/plugin/keys.ts';
import { remove } from '../../infra/plugin/remove.ts';
import type { ProviderSettings } from '../../infra/plugin/settings.ts';
import { DeployError, settingsOf } from '../../infra/plugin/settings.ts';
import type { Context } from '../../infra/plugin/stack.ts';
import { run } from '../../infra/plugin/tools.ts';
import type { Deployed } from './stand-ins/deployed.ts';
import { startDeployed } from './stand-ins/deployed.ts';
import { FUNCTION_SETTINGS, PROVIDER_SETTINGS } from './stand-ins/settings.ts';
import type { Answer, Tools } from './stand-ins/tools.ts';
import { makeTools, SUBSCRIPTION } from './stand-ins/tools.ts';

const NOW = { isPlanOnly: false, patienceMs: 0 } as const;
let outDir: string;
let tools: Tools;
let deployed: Deployed;
let said: string[];

beforeEach(async () => {
  outDir = await mkdtemp(path.join(tmpdir(), 'stowage-out-'));
  deployed = await startDeployed();
  tools = await makeTools(deployed.outputs, outDir);
  said = [];
  const before = process.env['PATH'];
  process.env['PATH'] = tools.bin;
  return async () => {
    process.env['PATH'] = before;
    await Promise.all([deployed.close(), tools.close(), rm(outDir, { recursive: true })]);
  };
});

describe('deploy', () => {
  it('plans both clouds before it touches one, then applies, uploads and tries out each', async () => {
    await deploy(contextOf(), NOW);
    const calls = await tools.calls();
    expect(verbsOf(calls)).toEqual([
      'gcp init',
      'gcp workspace',
      'azure init',
      'azure workspace',
      'gcp output',
      'gcp plan',
      'azure output',
      'azure plan',
      'gcp apply',
      'gcp output',
      'azure apply',
      'azure output',
    ]);
    expect(calls.filter((call) => call.includes('config-zip'))).toEqual(
      ['records', 'compare'].map(
        (name) =>
          `az functionapp deployment source config-zip --subscription ${SUBSCRIPTION} --resource-group stowage-dev --name ${name}-app --src ${outDir}/azure-${name}.zip`,
      ),
    );
    for (const cloud of ['gcp', 'azure'])
      expect(deployed.requests.filter((request) => request.startsWith(cloud))).toEqual([
        `${cloud} GET /v1/health`,
        `${cloud} GET /v1/health`,
        `${cloud} PUT /v1/tables/stowage-smoke`,
        `${cloud} PUT /v1/tables/stowage-smoke/records/smoke`,
        `${cloud} GET /v1/tables/stowage-smoke/records/smoke`,
        `${cloud} DELETE /v1/tables/stowage-smoke/records/smoke`,
        `${cloud} GET /v1/tables`,
      ]);
    expect(said.join('\n')).toMatch(/gcp: healthy[^]*azure: healthy[^]*tables {3}users/);
  });

  it('turns to the stage’s own state', async () => {
    await deploy(contextOf({ stage: 'prod' }), { ...NOW, isPlanOnly: true });
    expect(await tools.calls()).toContain('terraform azure workspace select -or-create=true prod');
  });

  it('keeps app keys out of arguments, output and files, and gives them to plan and apply alone', async () => {
    await deploy(contextOf(), NOW);
    const calls = await tools.calls();
    const withKeys = calls.filter((call) => call.endsWith('(with keys)')).map((call) => verbsOf([call])[0]);
    expect(withKeys).toEqual(['gcp plan', 'azure plan', 'gcp apply', 'azure apply']);
    const files = ['gcp-dev.tfvars.json', 'azure-dev.tfvars.json', 'endpoints-dev.json'];
    const texts = await Promise.all(files.map((file) => readFile(path.join(outDir, file), 'utf8')));
    const everything = [...said, ...texts, ...calls].join('\n');
    expect(everything).not.toMatch(/gcp-app-key|azure-app-key|an-identity-token|an-azure-function-key|a-token/);
  });

  it('gives Terraform what serverless.yml says', async () => {
    const gcp = { ...PROVIDER_SETTINGS.gcp, project: 'other-project', invokers: ['deployer', 'group:all@example.com'] };
    await deploy(contextOf({ gcp, alerts: { email: 'ops@example.com', errorPercent: 1, latencyMs: 2_000 } }), NOW);
    expect(await variablesOf('gcp')).toMatchObject({
      service: 'stowage',
      stage: 'dev',
      project: 'other-project',
      region: 'us-central1',
      invokers: ['user:somebody@example.com', 'group:all@example.com'],
      keys_version: 1,
      alerts: { email: 'ops@example.com', error_percent: 1, latency_ms: 2_000 },
      budget: null,
      functions: { records: { concurrency: 32, instances_max: 4, memory_mb: 2_048, timeout_seconds: 60 } },
    });
    expect(await variablesOf('azure')).toMatchObject({
      subscription_id: SUBSCRIPTION,
      table: 'stowage',
      replication: 'LRS',
      functions: { compare: { instances_max: 40 } },
    });
  });

  it('names a service account as one, and asks for its tokens by audience', async () => {
    await tools.answer(
      { to: 'gcloud auth list', stdout: 'ci@some-project.iam.gserviceaccount.com' },
      { to: 'gcloud config get-value account', stdout: 'ci@some-project.iam.gserviceaccount.com' },
    );
    await deploy(contextOf(), NOW);
    expect(await variablesOf('gcp')).toMatchObject({
      invokers: ['serviceAccount:ci@some-project.iam.gserviceaccount.com'],
    });
    expect((await tools.calls()).join('\n')).toContain('print-identity-token --audiences=http://127.0.0.1:');
  });

  it('touches one cloud alone when told so', async () => {
    await deploy(contextOf({ cloud: 'azure' }), NOW);
    expect((await tools.calls()).filter((call) => /^gcloud|terraform gcp/.test(call))).toEqual([]);
  });

  it('as a plan touches nothing', async () => {
    await deploy(contextOf(), { ...NOW, isPlanOnly: true });
    expect(said.at(-1)).toContain('nothing was touched');
    expect((await tools.calls()).filter((call) => /apply|config-zip/.test(call))).toEqual([]);
    expect(deployed.requests).toEqual([]);
  });

  it('says all that is missing at once, each with what mends it, and touches nothing', async () => {
    await tools.without('terraform');
    await tools.without('az');
    await tools.answer(
      { to: 'gcloud auth application-default', code: 1, stderr: 'no credentials' },
      { to: 'gcloud billing', stdout: 'False' },
      { to: 'gcloud services list', stdout: 'serviceusage.googleapis.com' },
    );
    const message = await failureOf(deploy(contextOf(), NOW));
    for (const part of [
      'Nothing was touched',
      'terraform or tofu, 1.11 or newer',
      'az, the Azure CLI',
      'gcloud auth login --update-adc',
      'gcloud billing projects link some-project',
      'gcloud services enable cloudresourcemanager.googleapis.com --project=some-project',
    ])
      expect(message).toContain(part);
    expect(verbsOf(await tools.calls())).toEqual([]);
  });

  const DEVIATIONS: readonly (readonly [string, Answer, string])[] = [
    ['an old Terraform', { to: 'terraform version', stdout: '{"terraform_version":"1.5.7"}' }, 'this is 1.5'],
    ['no login at Google', { to: 'gcloud auth list' }, 'gcloud auth login --update-adc'],
    ['a project that is not theirs', { to: 'gcloud projects', code: 1 }, 'project some-project, or access'],
    ['no project', { to: 'gcloud config get-value project', stdout: '(unset)' }, 'gcloud config set project'],
    ['no login at Azure', { to: 'az account', code: 1 }, 'az login'],
    ['an expired login at Azure', { to: 'az account get-access-token', code: 1 }, 'still valid'],
    ['a region without Flex Consumption', { to: 'az functionapp list-flex', stdout: 'West US 3' }, 'one of westus3'],
  ];
  it.each(DEVIATIONS)('with %s says what to do, before anything is touched', async (_, deviation, part) => {
    await tools.answer(deviation);
    expect(await failureOf(deploy(contextOf(), NOW))).toContain(part);
    expect(verbsOf(await tools.calls())).toEqual([]);
  });

  it('with a subscription that is not theirs says so', async () => {
    await tools.answer({ to: 'az account show', code: 1 });
    const azure = { ...PROVIDER_SETTINGS.azure, subscription: SUBSCRIPTION };
    expect(await failureOf(deploy(contextOf({ azure }), NOW))).toContain(
      `the Azure subscription ${SUBSCRIPTION}, or access to it`,
    );
  });

  it('after a failed apply says how far it came, and the same command goes on', async () => {
    await tools.answer({ to: 'terraform azure apply', code: 1, stderr: 'Error: quota exceeded' });
    expect(await failureOf(deploy(contextOf(), NOW))).toContain(
      'gcp: deployed; azure: begun. The same command goes on from here.',
    );
    await tools.calls();
    await tools.answer();
    await deploy(contextOf(), NOW);
    expect(verbsOf(await tools.calls())).toContain('azure apply');
  });

  it('after a failed plan touches neither cloud', async () => {
    await tools.answer({ to: 'terraform azure plan', code: 1, stderr: 'Error: Invalid value' });
    expect(await failureOf(deploy(contextOf(), NOW))).toContain('azure: terraform plan failed');
    expect((await tools.calls()).filter((call) => call.includes('apply'))).toEqual([]);
  });

  it('after a failed upload says what az said', async () => {
    await tools.answer({ to: 'az functionapp deployment', code: 1, stderr: 'ERROR: Deployment is still building' });
    expect(await failureOf(deploy(contextOf(), NOW))).toContain(
      'the upload of records failed: ERROR: Deployment is still building',
    );
  });

  it('does not call functions that refuse their callers deployed', async () => {
    deployed.answerWith('gcp', 403);
    const message = await failureOf(deploy(contextOf(), NOW));
    expect(message).toMatch(/deployed, but it does not work[^]*answered 403[^]*gcp: begun; azure: not begun/);
  });

  it('does not write a file of endpoints for what is not there', async () => {
    await tools.answer({ to: 'terraform azure apply', code: 1 });
    await failureOf(deploy(contextOf(), NOW));
    await expect(stat(path.join(outDir, 'endpoints-dev.json'))).rejects.toThrow('ENOENT');
  });
});

describe('once deployed', () => {
  beforeEach(async () => {
    await deploy(contextOf(), NOW);
    await tools.calls();
    said = [];
  });

  it('a second deployment keeps the version of the keys', async () => {
    await changeKeys(contextOf(), { step: 'add', patienceMs: 0 });
    await deploy(contextOf(), NOW);
    expect(await variablesOf('gcp')).toMatchObject({ keys_version: 2 });
  });

  it('info shows addresses, where the credentials are, and tables', async () => {
    await info(contextOf());
    expect(said.join('\n')).toMatch(
      /gcp\n[^]*http:\/\/127[^]*stowage-dev-keys-admin version 1[^]*azure\n[^]*Key Vault stowage-vault[^]*users/,
    );
  });

  it('info says what it cannot ask, and shows the rest', async () => {
    deployed.answerWith('azure', 503);
    await info(contextOf());
    expect(said.join('\n')).toMatch(/tables {3}users[^]*tables {3}not known: Error: HTTP 503/);
  });

  it('invoke sends a request to each cloud with its credentials', async () => {
    await invoke(contextOf(), { function: 'records', data: '{"path":"/v1/tables"}' });
    expect(said.join('\n').match(/HTTP 200\n\{"tables"/g)).toHaveLength(2);
  });

  it('invoke fails where the function does', async () => {
    deployed.answerWith('azure', 500);
    expect(await failureOf(invoke(contextOf(), { function: 'records' }))).toBe('azure answered 500');
  });

  it.each([
    [{ function: 'record' }, 'there is no function record; there are records, compare'],
    [{ function: 'records', data: '{"url":"/"}' }, 'Unrecognized key: "url"'],
    [{ function: 'records', data: 'nonsense' }, 'the data is to be like'],
  ])('invoke %j says what is wrong', async (options, part) => {
    expect(await failureOf(invoke(contextOf(), options))).toContain(part);
  });

  it('remove keeps the data, and a deployment finds it again', async () => {
    await remove(contextOf(), { isDataDeleted: false, isConfirmed: true });
    expect(verbsOf(await tools.calls())).not.toContain('gcp destroy');
    expect(await variablesOf('gcp')).toMatchObject({ data_only: true, allow_data_deletion: false });
    await info(contextOf());
    expect(said.join('\n')).toContain('gcp: no functions are deployed');
    await deploy(contextOf(), NOW);
    expect(await variablesOf('gcp')).not.toHaveProperty('data_only');
  });

  it('remove lifts the protection of data before it destroys it', async () => {
    await remove(contextOf(), { isDataDeleted: true, isConfirmed: true });
    expect(said.join('\n')).toContain('DELETES ITS DATA');
    expect(verbsOf(await tools.calls()).filter((verb) => /apply|destroy/.test(verb))).toEqual([
      'gcp apply',
      'gcp destroy',
      'azure apply',
      'azure destroy',
    ]);
    expect(await variablesOf('azure')).toMatchObject({ data_only: true, allow_data_deletion: true });
  });

  it('new keys go in beside the old ones, and the old ones out in a step of its own', async () => {
    await changeKeys(contextOf(), { step: 'add', patienceMs: 0 });
    expect(await variablesOf('gcp')).toMatchObject({ keys_version: 2 });
    await tools.answer(
      { to: 'gcloud secrets versions access', stdout: 'gcp-app-key-00000000,an-older-one-0000000' },
      { to: 'az keyvault secret show', stdout: 'azure-app-key-000000,an-older-one-0000000' },
    );
    expect(await failureOf(changeKeys(contextOf(), { step: 'add' }))).toContain('two keys are valid already');
    await changeKeys(contextOf(), { step: 'retire', patienceMs: 0 });
    expect(await variablesOf('azure')).toMatchObject({ keys_version: 3 });
  });
});

function contextOf(provider: Partial<ProviderSettings> = {}): Context {
  const settings = settingsOf('stowage', { ...PROVIDER_SETTINGS, ...provider }, FUNCTION_SETTINGS, outDir);
  return { settings, run, log: (line) => void said.push(line) };
}

/** What a command that fails says to the user. */
async function failureOf(command: Promise<void>): Promise<string> {
  const error: unknown = await command.catch((error: unknown) => error);
  expect(error).toBeInstanceOf(DeployError);
  return (error as DeployError).message;
}

/** Cloud and verb of every Terraform call. */
function verbsOf(calls: readonly string[]): string[] {
  return calls.flatMap((call) => /^terraform (gcp|azure) (\w+)/.exec(call)?.slice(1).join(' ') ?? []);
}

async function variablesOf(cloud: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(outDir, `${cloud}-dev.tfvars.json`), 'utf8')) as Record<string, unknown>;
}
