// infra/gcp and infra/azure as text: rules of access and protection, checked also where the real
// providers cannot be had. What the folders plan is tested by ../modules, under the real schemas.
import { execFile, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { azure } from '../../../infra/plugin/clouds/azure-cloud.ts';
import { gcp } from '../../../infra/plugin/clouds/gcp-cloud.ts';
import { writeBackend } from '../../../infra/plugin/stack/terraform.ts';
import { testFolder } from '../../support/folder.ts';

const INFRA = fileURLToPath(new URL('../../../infra/', import.meta.url));
const FOLDERS = ['gcp', 'azure', 'gcp/ci', 'azure/ci'];
const { stdout } = spawnSync('terraform', ['version', '-json'], { encoding: 'utf8' });
const hasTerraform = /"terraform_version": "1\.(1[1-9]|[2-9]\d)/.test(stdout);
if (!hasTerraform) console.warn('SKIPPED: what needs Terraform 1.11 or newer, which is not installed');

/** What every resource of a type says. */
const RULES: readonly (readonly [type: string, ...lines: readonly RegExp[]])[] = [
  ['google_storage_bucket', /public_access_prevention += "enforced"/, /uniform_bucket_level_access += true/],
  [
    'google_firestore_database',
    /"DATASTORE_MODE"/,
    /allow_data_deletion \? \S+DISABLED" : "DELETE_PROTECTION_ENABLED"/,
  ],
  ['google_project_service', /disable_on_destroy += false/],
  ['google_secret_manager_secret_version', /secret_data_wo +=/],
  [
    'azurerm_storage_account',
    /allow_nested_items_to_be_public += false/,
    /shared_access_key_enabled += false/,
    /https_traffic_only_enabled += true/,
    /min_tls_version += "TLS1_2"/,
  ],
  ['azurerm_storage_container', /container_access_type += "private"/],
  ['azurerm_function_app_flex_consumption', /https_only += true/, /webdeploy_publish_basic_\w+ += false/],
  ['azurerm_management_lock', /lock_level += "CanNotDelete"/, /count += var\.allow_data_deletion \? 0 : 1/],
  ['azurerm_key_vault_secret', /value_wo +=/],
  ['azurerm_log_analytics_workspace', /local_authentication_enabled += false/],
  ['azurerm_application_insights', /local_authentication_enabled += false/],
];

test.each(RULES)('each %s says %s', async (type, ...lines) => {
  const bodies = (await Promise.all(FOLDERS.map(resources))).flat().filter((one) => one.type === type);
  expect(bodies).not.toEqual([]);
  for (const { body } of bodies) for (const line of lines) expect(body).toMatch(line);
});

test.each([gcp, azure])('the guard against data loss knows $cloud’s resources by their addresses', async (side) => {
  const { data, functionType } = side.holdings;
  const present = await resources(side.cloud);
  expect(present.map(({ type }) => type)).toContain(functionType);
  for (const address of data) {
    const found = present.find(({ type, name }) => `${type}.${name}` === address);
    // With an index, an address would be another.
    expect(found?.body).not.toMatch(/^ {2}(count|for_each) /m);
  }
});

test('each resource on Google has its project from the variable, or from what it belongs to', async () => {
  const all = [...(await resources('gcp')), ...(await resources('gcp/ci'))];
  const without = all.filter(
    ({ body }) =>
      !/^ {2}(project +=.*var\.project$|(secret|secret_id|service_account_id) +=.*\.(id|name)$)/m.test(body),
  );
  expect(new Set(without.map(({ type }) => type))).toEqual(
    // Of a bucket, and of a billing account.
    new Set(['google_storage_bucket_object', 'google_billing_budget']),
  );
});

test.each(['gcp', 'azure'])('infra/%s gives these roles, and no others', async (cloud) => {
  const text = await textOf(cloud);
  const roles = cloud === 'gcp' ? /"(roles\/[^"]+)"/g : /role += "([^"]+)"/g;
  expect([...new Set([...text.matchAll(roles)].map(([, role]) => role!))].sort()).toEqual(
    cloud === 'gcp'
      ? [
          'roles/artifactregistry.writer',
          'roles/datastore.user',
          'roles/logging.logWriter',
          'roles/run.invoker',
          'roles/secretmanager.${each.value.role}',
          'roles/secretmanager.secretAccessor',
          'roles/storage.objectViewer',
        ]
      : ['Monitoring Metrics Publisher', 'Storage Blob Data Owner', 'Storage Table Data Contributor'],
  );
});

test.each(FOLDERS)('infra/%s lets nobody in without a login, and uses every variable', async (folder) => {
  const text = await textOf(folder);
  expect(text).not.toMatch(/allUsers|allAuthenticatedUsers|google_service_account_key/);
  const declared = [...text.matchAll(/^variable "(\w+)"/gm)].map(([, name]) => name!);
  expect(declared).not.toEqual([]);
  const without = (name: string): string => text.replace(new RegExp(`^variable "${name}" {(.*}$|[^]*?^})`, 'm'), '');
  expect(declared.filter((name) => !new RegExp(`\\bvar\\.${name}\\b`).test(without(name)))).toEqual([]);
});

describe.skipIf(!hasTerraform)('Terraform', () => {
  test('finds nothing to format', async () => {
    expect((await terraform('fmt', '-check', '-recursive', INFRA)).stdout).toBe('');
  });

  test.each(['gs://some-project-stowage-state', 'azure://stowagestate0123/state'])(
    'reads the state %s',
    async (state) => {
      const dir = await testFolder();
      await writeBackend(dir, 'azure', { state, service: 'stowage' });
      const { stdout } = await terraform(`-chdir=${dir}`, 'init', '-backend=false', '-input=false');
      expect(stdout).toContain('successfully initialized');
      await terraform(`-chdir=${dir}`, 'validate');
    },
  );
});

async function resources(folder: string) {
  const found = (await textOf(folder)).matchAll(/^resource "(\w+)" "(\w+)" \{\n([^]*?)^}/gm);
  return [...found].map(([, type, name, body]) => ({ type: type!, name: name!, body: body! }));
}

async function textOf(folder: string): Promise<string> {
  const names = (await readdir(path.join(INFRA, folder))).filter((name) => name.endsWith('.tf'));
  return (await Promise.all(names.map((name) => readFile(path.join(INFRA, folder, name), 'utf8')))).join('\n');
}

function terraform(...args: string[]) {
  return promisify(execFile)('terraform', args, { env: { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null' } });
}
