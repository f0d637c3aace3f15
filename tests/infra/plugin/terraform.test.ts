// infra/gcp and infra/azure under the real Terraform with stand-ins for providers: schemas, and the
// rules on access, secrets, protection and cost.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { attributesOf } from './schemas/schema.ts';
import { type Cloud, hasTerraform, INFRA, openSandbox, run, type Sandbox, schemaOf } from './stand-ins/terraform.ts';
import { afterOf, type Change, computed, expectDone, INVOKER, KEYS, packagesFor, WANTED } from './stand-ins/plan.ts';

const NEXT_KEYS = {
  read: 'secret-of-readers-0002',
  write: 'secret-of-writers-0002',
  admin: 'secret-of-admins-00002',
  compare: 'secret-of-comparisons-02',
};

/** The rules on access, protection and cost that every resource of a type keeps. */
const ALWAYS: Readonly<Record<Cloud, Record<string, object>>> = {
  gcp: {
    google_storage_bucket: { public_access_prevention: 'enforced', uniform_bucket_level_access: true },
    google_cloud_run_service_iam_member: { role: 'roles/run.invoker' },
    google_firestore_database: { type: 'DATASTORE_MODE', delete_protection_state: 'DELETE_PROTECTION_ENABLED' },
    google_project_service: { disable_on_destroy: false },
  },
  azure: {
    azurerm_storage_account: {
      allow_nested_items_to_be_public: false,
      shared_access_key_enabled: false,
      https_traffic_only_enabled: true,
      min_tls_version: 'TLS1_2',
    },
    azurerm_storage_container: { container_access_type: 'private' },
    azurerm_function_app_flex_consumption: { https_only: true, webdeploy_publish_basic_authentication_enabled: false },
    azurerm_management_lock: { lock_level: 'CanNotDelete' },
  },
};

const ROLES: Readonly<Record<Cloud, readonly string[]>> = {
  gcp: [
    'roles/artifactregistry.writer',
    'roles/datastore.user',
    'roles/logging.logWriter',
    'roles/run.invoker',
    'roles/secretmanager.secretAccessor',
    'roles/storage.objectViewer',
  ],
  azure: ['Monitoring Metrics Publisher', 'Storage Blob Data Owner', 'Storage Table Data Contributor'],
};

describe.each(['gcp', 'azure'] as const)('infra/%s', (cloud) => {
  test('names only what its own files declare and use', async () => {
    for (const folder of [cloud, `${cloud}/functions`, `${cloud}/ci`]) {
      const text = await textOf(folder);
      const declared = [...text.matchAll(/^variable "(\w+)"/gm)].map((match) => match[1]!);
      const without = (name: string): string => text.replace(new RegExp(`^variable "${name}" [^]*?^}`, 'gm'), '');
      const unused = declared.filter((name) => !new RegExp(`\\bvar\\.${name}\\b`).test(without(name)));
      expect(unused).toEqual([]);
    }
  });

  test('says of each variable what it means, and of each output what it is', async () => {
    const text = (await Promise.all([cloud, `${cloud}/ci`].map(textOf))).join('\n');
    const silent = [...text.matchAll(/^(?:variable|output) "(\w+)" \{\n([^]*?)^}/gm)]
      .filter(([, , body]) => !/^ {2}description = ".{10,}"$/m.test(body!))
      .map((match) => match[1]);
    expect(silent).toEqual([]);
  });

  test('is checked against a schema of a release that it allows', async () => {
    const { version } = await schemaOf(cloud);
    for (const folder of [cloud, `${cloud}/ci`]) {
      const [, pinned = ''] = /version = "([^"]+)"\n {4}\}/.exec(await textOf(folder)) ?? [];
      expect(pinned).toBe(cloud === 'gcp' ? '>= 6.50, < 8' : '~> 4.78');
      expect(version).toMatch(cloud === 'gcp' ? /^(6\.[5-9]\d|7)\./ : /^4\.(7[89]|[89]\d|\d{3})\./);
    }
  });

  test('says nothing that the provider has deprecated, and no value that it would refuse', async () => {
    const { resources } = await schemaOf(cloud);
    const text = (await Promise.all([cloud, `${cloud}/functions`, `${cloud}/ci`].map(textOf))).join('\n');
    const wrong = [...text.matchAll(/^resource "(\w+)" "\w+" \{\n([^]*?)^}/gm)].flatMap(([, type, body]) => {
      const attributes = new Map(attributesOf(resources[type!] ?? {}));
      return [...body!.matchAll(/^ {2}(\w+) += (?:"([^"$]*)"|(\d+))?/gm)].flatMap(([, name, word, number]) => {
        const [, , traits = {}] = attributes.get(name!) ?? [];
        const [least = -Infinity, most = Infinity] = traits.range ?? [];
        const isRefused =
          (word !== undefined && traits.oneOf?.includes(word) === false) ||
          (number !== undefined && (Number(number) < least || Number(number) > most));
        return traits.deprecated !== undefined || isRefused ? [`${type}.${name}`] : [];
      });
    });
    expect(wrong).toEqual([]);
  });
});

test('each resource on Google has its project from the variable, or from the secret that it belongs to', async () => {
  const { resources } = await schemaOf('gcp');
  const text = (await Promise.all(['gcp', 'gcp/functions', 'gcp/ci'].map(textOf))).join('\n');
  const without = [...text.matchAll(/^resource "(\w+)" "\w+" \{\n([^]*?)^}/gm)]
    .filter(([, type]) => 'project' in (resources[type!] ?? {}))
    .filter(([, , body]) => !/^ {2}(project +=.*var\.project$|secret(_id)? +=.*\.id$)/m.test(body!));
  expect(without.map(([, type]) => type)).toEqual([]);
});

describe.skipIf(!hasTerraform)('terraform', () => {
  test('finds nothing to format', async () => {
    expectDone(await run('terraform', ['fmt', '-check', '-recursive', INFRA]));
  });

  test.each([
    ['gcp', 'google_storage_bucket', ['labels   =', 'label ='], 'Unsupported argument'],
    ['azure', 'azurerm_storage_account', ['min_tls_version', 'least_tls_version'], 'Unsupported argument'],
  ] as const)('notices a mistake in %s: %s with %j changed', async (cloud, type, [from, to], message) => {
    const sandbox = await openSandbox(cloud, WANTED[cloud]);
    onTestFinished(() => sandbox.close());
    const file = path.join(sandbox.dir, 'functions/main.tf');
    const text = await readFile(file, 'utf8');
    const at = text.indexOf(`resource "${type}"`);
    await writeFile(file, text.slice(0, at) + text.slice(at).replace(from, to));
    const { code, output } = await sandbox.terraform('validate', '-no-color');
    expect(code).toBe(1);
    expect(output).toContain(message);
  });
});

describe.skipIf(!hasTerraform).each(['gcp', 'azure'] as const)('what comes to be on %s', (cloud) => {
  let sandbox: Sandbox;
  let changes: readonly Change[];
  let plan: string;
  let state: string;

  beforeAll(async () => {
    sandbox = await openSandbox(cloud, WANTED[cloud], computed());
    await packagesFor(sandbox, cloud);
    expectDone(await sandbox.terraform('validate', '-no-color'));
    expectDone(await sandbox.terraform('plan', '-input=false', '-no-color', '-out=plan'));
    plan = (await sandbox.terraform('show', '-json', 'plan')).output;
    changes = (JSON.parse(plan) as { resource_changes: Change[] }).resource_changes;
    expectDone(await sandbox.terraform('apply', '-input=false', '-no-color', 'plan'));
    state = await readFile(path.join(sandbox.dir, 'terraform.tfstate'), 'utf8');
  });
  afterAll(() => sandbox.close());

  const planned = (type: string): Record<string, unknown>[] => afterOf(changes, type);

  test('holds no secret in the plan or in the state', () => {
    for (const key of Object.values(KEYS)) {
      expect(plan).not.toContain(key);
      expect(state).not.toContain(key);
    }
  });

  test('hands the keys over to the cloud’s own store of secrets', () => {
    const type = cloud === 'gcp' ? 'google_secret_manager_secret_version' : 'azurerm_key_vault_secret';
    const given = sandbox.provider.applied.filter((one) => one.type === type).map(({ config }) => config);
    const attribute = cloud === 'gcp' ? 'secret_data_wo' : 'value_wo';
    expect(new Set(given.map((one) => one[attribute]))).toEqual(new Set(Object.values(KEYS)));
  });

  test.each(Object.entries(ALWAYS[cloud]))('is never otherwise: %s', (type, wanted) => {
    expect(planned(type)).not.toEqual([]);
    for (const one of planned(type)) expect(one).toMatchObject(wanted);
  });

  test('lets nobody in but those who are named', () => {
    expect(JSON.stringify(changes)).not.toMatch(/allUsers|allAuthenticatedUsers/);
    const members = new Set(planned('google_cloud_run_service_iam_member').map(({ member }) => member));
    expect([...members]).toEqual(cloud === 'gcp' ? [INVOKER] : []);
  });

  test('grants roles by name and as narrow as they come', () => {
    const roles = changes.flatMap(({ change: { after } }) => [after?.['role'], after?.['role_definition_name']]);
    expect(new Set(roles.filter((role) => typeof role === 'string'))).toEqual(new Set(ROLES[cloud]));
  });

  test.skipIf(cloud !== 'gcp')('lets builds read packages, not the project’s other buckets', () => {
    const reader = sandbox.provider.applied.find(({ values }) => values['role'] === 'roles/storage.objectViewer');
    const [{ expression }] = reader!.values['condition'] as [{ expression: string }];
    const buckets = [...expression.matchAll(/projects\/_\/buckets\/([^"/]+)/g)].map((match) => match[1]!);
    expect(new Set(buckets)).toEqual(
      new Set(['some-project-stowage-dev-code', expect.stringMatching(/^gcf-v2-sources-.+-us-east4$/)]),
    );
  });

  test.skipIf(cloud !== 'gcp')('gives the functions one database, not all of the project’s', () => {
    const store = planned('google_project_iam_member').find(({ role }) => role === 'roles/datastore.user');
    expect(JSON.stringify(store?.['condition'])).toContain('projects/some-project/databases/stowage-dev');
  });

  test('caps the instances of every function, and keeps none warm', () => {
    const functions =
      cloud === 'gcp'
        ? planned('google_cloudfunctions2_function').map(
            (one) => (one['service_config'] as Record<string, unknown>[])[0]!,
          )
        : planned('azurerm_function_app_flex_consumption');
    expect(functions).toHaveLength(2);
    for (const one of functions) {
      expect(one[cloud === 'gcp' ? 'max_instance_count' : 'maximum_instance_count']).toBeLessThanOrEqual(40);
      expect(cloud === 'gcp' ? one['min_instance_count'] : (one['always_ready'] as unknown[]).length).toBe(0);
    }
  });

  test('has no alerts and no budget until they are asked for', () => {
    expect(changes.filter(({ type }) => /alert|budget|notification|action_group/.test(type))).toEqual([]);
  });

  test('watches when asked to', async () => {
    const budget =
      cloud === 'gcp'
        ? '{"billing_account":"000000-000000-000000","amount":20}'
        : '{"email":"ops@example.com","amount":20}';
    const { code, output } = await sandbox.terraform(
      'plan',
      '-input=false',
      '-no-color',
      '-var=alerts={"email":"ops@example.com","error_percent":1,"latency_ms":2000,"requests_min":100}',
      `-var=budget=${budget}`,
    );
    expect(code).toBe(0);
    expect(output).toMatch(cloud === 'gcp' ? /will be created[^]*google_billing_budget/ : /azurerm_consumption_budget/);
    expect(output).toContain(cloud === 'gcp' ? 'REDUCE_PERCENTILE_99' : 'percentile(duration, 99)');
    // The latency of cells says nothing; that they fail does.
    const watched = [...output.matchAll(/(?:filter|query) += "(.*)"$/gm)].map((match) => match[1]!);
    const latency = watched.filter((one) => /latencies|percentile/.test(one));
    expect(latency).toHaveLength(1);
    expect(latency[0]).not.toContain('compare');
    expect(latency[0]).toContain('records');
  });

  test('takes new keys as new versions that the functions name, before the old ones go', async () => {
    const before = sandbox.provider.applied.length;
    const { env } = sandbox;
    const { code, output } = await run(
      'terraform',
      [`-chdir=${sandbox.dir}`, 'apply', '-auto-approve', '-input=false', '-no-color', '-var=keys_version=2'],
      { ...env, TF_VAR_keys: JSON.stringify(NEXT_KEYS) },
    );
    expectDone({ code, output });
    const did = sandbox.provider.applied.slice(before).map(({ type, action }) => `${action} ${type}`);
    const [secret, fn] =
      cloud === 'gcp'
        ? ['google_secret_manager_secret_version', 'google_cloudfunctions2_function']
        : ['azurerm_key_vault_secret', 'azurerm_function_app_flex_consumption'];
    expect([...new Set(did)]).toEqual([`create ${secret}`, `update ${fn}`, `delete ${secret}`]);
  });
});

describe
  .skipIf(!hasTerraform)
  .each<readonly [Cloud, readonly (readonly [name: string, value: string, message: string])[]]>([
    [
      'gcp',
      [
        ['invokers', '["allUsers"]', 'never public'],
        ['processors_max', '4', 'could take 5 processors'],
        ['invokers', '["domain:example.com"]', 'Invokers are named'],
      ],
    ],
    [
      'azure',
      [
        [
          'functions',
          '{"records":{"package":"a","timeout_seconds":231,"concurrency":1,"instances_max":40,"memory_mb":2048}}',
          'Azure ends every HTTP request after 230 seconds',
        ],
      ],
    ],
  ])('wrong input for %s', (cloud, cases) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openSandbox(cloud, WANTED[cloud]);
    await packagesFor(sandbox, cloud);
  });
  afterAll(() => sandbox.close());

  test.each(cases)('%s = %s is refused with what it should be', async (name, value, message) => {
    const { code, output } = await sandbox.terraform('plan', '-input=false', '-no-color', `-var=${name}=${value}`);
    expect(code).toBe(1);
    expect(output.replaceAll(/\s+/g, ' ')).toContain(message);
    expect(sandbox.provider.applied).toEqual([]);
  });
});

async function textOf(folder: string): Promise<string> {
  const names = (await readdir(path.join(INFRA, folder))).filter((name) => name.endsWith('.tf'));
  return (await Promise.all(names.map((name) => readFile(path.join(INFRA, folder, name), 'utf8')))).join('\n');
}
