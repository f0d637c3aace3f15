// What serverless.yml can ask for beyond its defaults, as Terraform plans it: a schedule, a warm instance, backups, a budget; and the modules that let
// workflows deploy.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterOf, INVOKER, planOf } from './stand-ins/plan.ts';
import { type Cloud, hasTerraform, INFRA } from './stand-ins/terraform.ts';

const LIMITS = { timeout_seconds: 60, concurrency: 32, instances_max: 4, memory_mb: 2_048 };
const SCHEDULED = { ...LIMITS, timeout_seconds: 1_800, instances_max: 1, schedule: '0 4 * * 0' };

const functionsOf = (cloud: Cloud, more: object = {}): Readonly<Record<string, unknown>> => ({
  functions: {
    records: { package: `../../.serverless/${cloud}-records.zip`, ...LIMITS, ...more },
    vacuum: { package: `../../.serverless/${cloud}-vacuum.zip`, ...SCHEDULED },
  },
});

describe.skipIf(!hasTerraform)('on Google', () => {
  test('a schedule has a caller that is nobody else’s, and no app key', async () => {
    const changes = await planOf('gcp', functionsOf('gcp'));
    expect(afterOf(changes, 'google_cloud_scheduler_job')).toMatchObject([
      { schedule: '0 4 * * 0', time_zone: 'Etc/UTC', attempt_deadline: '1800s' },
    ]);
    const callers = afterOf(changes, 'google_cloud_run_service_iam_member');
    expect(callers.map(({ service, member }) => [service, member ?? 'the scheduler’s'])).toEqual([
      ['stowage-dev-records', INVOKER],
      ['stowage-dev-vacuum', 'the scheduler’s'],
    ]);
    const enabled = afterOf(changes, 'google_project_service').map(({ service }) => service);
    expect(enabled).toContain('cloudscheduler.googleapis.com');
    const configs = afterOf(changes, 'google_cloudfunctions2_function').map(
      (one) => (one['service_config'] as { secret_environment_variables: unknown[] }[])[0]!,
    );
    expect(configs.map((one) => one.secret_environment_variables.length)).toEqual([3, 0]);
  });

  test('a container size is handed on, and to what runs on a schedule whether it merges; without them nothing is', async () => {
    for (const size of [65_536, 0]) {
      const changes = await planOf('gcp', { ...functionsOf('gcp'), container_bytes_max: size, merges: size !== 0 });
      const [records, vacuum] = afterOf(changes, 'google_cloudfunctions2_function').map((one) => {
        const [{ environment_variables: env }] = one['service_config'] as [{ environment_variables: object }];
        return new Map(Object.entries(env));
      });
      expect(records!.get('STOWAGE_CONTAINER_BYTES_MAX')).toBe(size === 0 ? undefined : '65536');
      expect(vacuum!.get('STOWAGE_MERGES')).toBe(size === 0 ? undefined : 'true');
      expect(records!.has('STOWAGE_MERGES')).toBe(false);
    }
  });

  test('a warm instance is kept', async () => {
    const changes = await planOf('gcp', functionsOf('gcp', { instances_min: 1 }));
    const [records] = afterOf(changes, 'google_cloudfunctions2_function');
    expect(records!['service_config']).toMatchObject([{ min_instance_count: 1 }]);
  });

  test('backups are made, and every version of a week is kept', async () => {
    const changes = await planOf('gcp', { point_in_time_recovery: true, backup_days: 14 });
    expect(afterOf(changes, 'google_firestore_database')).toMatchObject([
      { point_in_time_recovery_enablement: 'POINT_IN_TIME_RECOVERY_ENABLED' },
    ]);
    expect(afterOf(changes, 'google_firestore_backup_schedule')).toMatchObject([{ retention: '1209600s' }]);
  });

  test('workflows of one repository’s environments may deploy, without a key, and with roles that cannot grow', async () => {
    const changes = await planOf('gcp', { repository_id: '123456' }, 'ci');
    expect(changes.map(({ type }) => type)).not.toContain('google_service_account_key');
    expect(afterOf(changes, 'google_iam_workload_identity_pool_provider')).toMatchObject([
      { attribute_condition: `assertion.repository_id == '123456' && assertion.environment in ["dev","prod"]` },
    ]);
    const granting = afterOf(changes, 'google_project_iam_member').filter(({ role }) => /IamAdmin/.test(String(role)));
    const [{ expression }] = granting[0]!['condition'] as [{ expression: string }];
    expect(granting).toHaveLength(1);
    expect(expression).toBe(
      `api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly(${JSON.stringify(await grantedRoles())})`,
    );
  });
});

describe.skipIf(!hasTerraform)('jobs that drive a comparison in parts', () => {
  const image = 'registry.example.com/part:1';

  test('on Google Cloud run all parts at once, none of them twice, with the rights of one database and one bucket', async () => {
    const changes = await planOf('gcp', { image, parts: 8 }, 'jobs');
    const [job] = afterOf(changes, 'google_cloud_run_v2_job');
    const [outer] = job!['template'] as Record<string, unknown>[];
    const [task] = outer!['template'] as Record<string, unknown>[];
    const [container] = task!['containers'] as { image: string; env: { name: string; value: string }[] }[];
    expect(outer).toMatchObject({ task_count: 8, parallelism: 8 });
    expect(task).toMatchObject({ max_retries: 0 });
    const env = Object.fromEntries(container!.env.map(({ name, value }) => [name, value]));
    expect(container!.image).toBe(image);
    expect(env).toMatchObject({ STOWAGE_DATABASE_ID: 'stowage-dev', STOWAGE_PARTS: '/parts' });
    expect(afterOf(changes, 'google_project_iam_member').map(({ role }) => role)).toEqual(['roles/datastore.user']);
    expect(afterOf(changes, 'google_storage_bucket')).toMatchObject([{ public_access_prevention: 'enforced' }]);
  });

  test('on Azure run one part an execution, by an identity that reaches tables, its own files and the image', async () => {
    const registry = '/subscriptions/s/resourceGroups/r/providers/Microsoft.ContainerRegistry/registries/images';
    const changes = await planOf('azure', { image, registry_id: registry }, 'jobs');
    const [job] = afterOf(changes, 'azurerm_container_app_job');
    expect(job).toMatchObject({
      replica_retry_limit: 0,
      manual_trigger_config: [{ parallelism: 1, replica_completion_count: 1 }],
      identity: [{ type: 'UserAssigned' }],
      registry: [{ server: 'registry.example.com' }],
    });
    const roles = afterOf(changes, 'azurerm_role_assignment').map((one) => one['role_definition_name']);
    expect(new Set(roles)).toEqual(
      new Set(['AcrPull', 'Storage Blob Data Contributor', 'Storage Table Data Contributor']),
    );
    expect(afterOf(changes, 'azurerm_storage_account')).toMatchObject([{ shared_access_key_enabled: false }]);
    expect(afterOf(await planOf('azure', { image }, 'jobs'), 'azurerm_role_assignment')).toHaveLength(2);
  });
});

describe.skipIf(!hasTerraform)('on Azure', () => {
  test('a schedule is a setting of an app that has no app key', async () => {
    const changes = await planOf('azure', functionsOf('azure'));
    const apps = changes.filter(({ type }) => type === 'azurerm_function_app_flex_consumption');
    const settings = apps.map(({ change: { after, after_unknown: unknown } }) => ({
      ...(after!['app_settings'] as object),
      // The keys' places are known after the apply.
      ...(unknown['app_settings'] as object),
    }));
    expect(settings.map((one) => Object.keys(one).filter((name) => name.endsWith('_KEYS')).length)).toEqual([3, 0]);
    expect(settings[1]).toMatchObject({ STOWAGE_SCHEDULE: '0 0 4 * * 0' });
    expect(settings[0]).not.toHaveProperty('STOWAGE_SCHEDULE');
  });

  test('a container size is handed on, and to what runs on a schedule whether it merges; without them nothing is', async () => {
    for (const size of [65_536, 0]) {
      const changes = await planOf('azure', { ...functionsOf('azure'), container_bytes_max: size, merges: size !== 0 });
      const [records, vacuum] = afterOf(changes, 'azurerm_function_app_flex_consumption').map(
        (one) => one['app_settings'] as Record<string, unknown>,
      );
      expect(records!['STOWAGE_CONTAINER_BYTES_MAX']).toBe(size === 0 ? undefined : '65536');
      expect(vacuum!['STOWAGE_MERGES']).toBe(size === 0 ? undefined : 'true');
      expect(records).not.toHaveProperty('STOWAGE_MERGES');
    }
  });

  test('a warm instance is kept', async () => {
    const changes = await planOf('azure', functionsOf('azure', { instances_min: 1 }));
    const [records] = afterOf(changes, 'azurerm_function_app_flex_consumption');
    expect(records!['always_ready']).toEqual([{ name: 'http', instance_count: 1 }]);
  });

  test('a budget begins in this month, and stays as it began', async () => {
    const changes = await planOf('azure', { budget: { email: 'ops@example.com', amount: 20 } });
    const [budget] = afterOf(changes, 'azurerm_consumption_budget_resource_group');
    const month = new Date().toISOString().slice(0, 7);
    expect(budget!['time_period']).toMatchObject([{ start_date: `${month}-01T00:00:00Z` }]);
    const text = await readFile(path.join(INFRA, 'azure/functions/alerts.tf'), 'utf8');
    expect(text).toContain('ignore_changes = [time_period]');
  });

  test('nothing that signs in by a shared key is left open', async () => {
    const changes = await planOf('azure', {});
    for (const type of ['azurerm_log_analytics_workspace', 'azurerm_application_insights'])
      expect(afterOf(changes, type)).toMatchObject([{ local_authentication_enabled: false }]);
  });

  test('workflows of one repository’s environments may deploy, without a key, and with roles that cannot grow', async () => {
    const changes = await planOf('azure', { repository: 'somebody/something' }, 'ci');
    expect(afterOf(changes, 'azurerm_federated_identity_credential').map(({ subject }) => subject)).toEqual([
      'repo:somebody/something:environment:dev',
      'repo:somebody/something:environment:prod',
    ]);
    const roles = afterOf(changes, 'azurerm_role_assignment').map((one) => [one['role_definition_name'], one]);
    const granting = Object.fromEntries(roles)['User Access Administrator'] as { condition: string };
    expect(granting.condition.match(/ForAnyOfAnyValues:GuidEquals \{([^}]+)\}/g)).toHaveLength(2);
  });
});

/** The roles that infra/gcp gives on the project itself. */
async function grantedRoles(): Promise<string[]> {
  const text = await readFile(path.join(INFRA, 'gcp/functions/main.tf'), 'utf8');
  const members = text.matchAll(/^resource "google_project_iam_member" [^]*?^ {2}role +?= "([^"]+)"/gm);
  return [...members].map((match) => match[1]!).sort();
}
