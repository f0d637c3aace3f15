// Settings beyond serverless.yml's defaults as Terraform plans them: schedule, warm instance,
// backups, budget; and the modules for workflows.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { afterOf, type Change, INVOKER, planOf } from './stand-ins/plan.ts';
import { type Cloud, hasTerraform, INFRA } from './stand-ins/terraform.ts';

interface Threshold {
  readonly condition_threshold: readonly [{ readonly filter: string }];
}

const OVER_FIVE_MINUTES = {
  duration: '0s',
  comparison: 'COMPARISON_GT',
  aggregations: [{ alignment_period: '300s' }],
};

const LIMITS = { timeout_seconds: 60, concurrency: 32, instances_max: 4, memory_mb: 2_048 };
const SCHEDULED = { ...LIMITS, timeout_seconds: 1_800, instances_max: 1, schedule: '0 4 * * *' };

const functionsOf = (cloud: Cloud, more: object = {}): Readonly<Record<string, unknown>> => ({
  functions: {
    records: { package: `../../.serverless/${cloud}-records.zip`, ...LIMITS, ...more },
    vacuum: { package: `../../.serverless/${cloud}-vacuum.zip`, ...SCHEDULED },
  },
});

/** One function that is called, kept warm; one that runs every day; alerts. */
const watchedPlan = (cloud: Cloud): Promise<readonly Change[]> =>
  planOf(cloud, { ...functionsOf(cloud, { instances_min: 1 }), alerts: ALERTS });
const ALERTS = { email: 'ops@example.com', error_percent: 1, latency_ms: 2_000, requests_min: 100 };

/** The environment of the first function. */
const environmentOf = {
  gcp: (changes: readonly Change[]) =>
    (
      afterOf(changes, 'google_cloudfunctions2_function')[0]!['service_config'] as [{ environment_variables: object }]
    )[0].environment_variables,
  azure: (changes: readonly Change[]) =>
    afterOf(changes, 'azurerm_function_app_flex_consumption')[0]!['app_settings'] as object,
};

test.skipIf(!hasTerraform).each(['gcp', 'azure'] as const)(
  'on %s the environment is handed on, and a collector is told whose spans come',
  async (cloud) => {
    const environment = { STOWAGE_TRANSPORT: 'sdk', OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example' };
    expect(environmentOf[cloud](await planOf(cloud, { ...functionsOf(cloud), environment }))).toMatchObject({
      ...environment,
      OTEL_SERVICE_NAME: 'stowage-dev-records',
    });
    const byDefault = environmentOf[cloud](await planOf(cloud, functionsOf(cloud)));
    expect(byDefault).toMatchObject({ STOWAGE_TIMEOUT_MS: '25000' });
    expect(byDefault).not.toHaveProperty('OTEL_SERVICE_NAME');
  },
);

describe.skipIf(!hasTerraform)('on Google', () => {
  test('a schedule has a caller that is nobody else’s, and no app key', async () => {
    const changes = await planOf('gcp', functionsOf('gcp'));
    expect(afterOf(changes, 'google_cloud_scheduler_job')).toMatchObject([
      { schedule: '0 4 * * *', time_zone: 'Etc/UTC', attempt_deadline: '1800s' },
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
    expect(configs.map((one) => one.secret_environment_variables.length)).toEqual([4, 0]);
  });

  test('a warm instance is kept', async () => {
    const [records] = afterOf(await watchedPlan('gcp'), 'google_cloudfunctions2_function');
    expect(records!['service_config']).toMatchObject([{ min_instance_count: 1 }]);
  });

  test('readiness is asked for as Monitoring’s own account, which is let in', async () => {
    const changes = await watchedPlan('gcp');
    const checks = afterOf(changes, 'google_monitoring_uptime_check_config');
    expect(checks).toMatchObject([
      {
        display_name: 'stowage-dev-records',
        http_check: [{ path: '/v1/ready', use_ssl: true, service_agent_authentication: [{ type: 'OIDC_TOKEN' }] }],
      },
    ]);
    const monitoring = changes.filter(({ address }) => address.includes('iam_member.monitoring'));
    expect(monitoring.map(({ change }) => change.after)).toMatchObject([
      { service: 'stowage-dev-records', role: 'roles/run.invoker' },
    ]);
  });

  test('what is down, throttled, denied, slow or fails is told', async () => {
    const policies = afterOf(await watchedPlan('gcp'), 'google_monitoring_alert_policy');
    const lines = policies.flatMap(({ display_name: name, conditions }) => {
      const [{ condition_matched_log: matched }] = conditions as [{ condition_matched_log: { filter: string }[] }];
      return matched.map(({ filter }) => [name, filter]);
    });
    expect(policies.map(({ display_name: name }) => name)).toEqual(
      expect.arrayContaining([
        'stowage-dev: records is down',
        'stowage-dev: requests are denied',
        'stowage-dev: requests are slow',
        'stowage-dev: requests are throttled',
        'stowage-dev: requests fail',
      ]),
    );
    expect(policies).toHaveLength(6);
    expect(Object.fromEntries(lines)).toEqual({
      'stowage-dev: vacuum fails': expect.stringMatching(/^severity>=ERROR .*cloud_scheduler_job.*stowage-dev-vacuum/),
    });
  });

  test('a share counts over five minutes, and of a hundred requests at least', async () => {
    const policies = afterOf(await watchedPlan('gcp'), 'google_monitoring_alert_policy');
    const shares = policies.filter(({ combiner }) => combiner === 'AND');
    expect(shares).toHaveLength(4);
    for (const { conditions } of shares) {
      const thresholds = (conditions as Threshold[]).map(({ condition_threshold: [one] }) => one);
      expect(thresholds).toMatchObject([OVER_FIVE_MINUTES, { ...OVER_FIVE_MINUTES, threshold_value: 99.5 }]);
      expect(thresholds[1]!.filter).toContain('run.googleapis.com/request_count');
    }
  });

  test('a dashboard has a chart of all that is told by a figure, alerts or not', async () => {
    const [dashboard] = afterOf(await planOf('gcp', functionsOf('gcp')), 'google_monitoring_dashboard');
    const { gridLayout } = JSON.parse(String(dashboard!['dashboard_json'])) as {
      gridLayout: { widgets: { title: string }[] };
    };
    expect(gridLayout.widgets.map(({ title }) => title)).toEqual([
      '401 and 403 a second',
      '5xx a second',
      'active instances',
      'p99 in ms',
      'requests a second',
      '429 a second',
    ]);
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
    // To act as an account is to have its rights: only as those that a stage's functions, builds
    // and schedule have.
    const roles = afterOf(changes, 'google_project_iam_member').map(({ role }) => String(role));
    expect(roles.filter((role) => /serviceAccount(User|Admin|TokenCreator)|owner$|editor$/.test(role))).toEqual([
      'roles/datastore.owner',
      'roles/monitoring.editor',
    ]);
    const accounts = changes.filter(({ address }) => address.startsWith('google_service_account.acting'));
    expect(accounts.map(({ change }) => change.after!['account_id'])).toEqual([
      ...(await accountsOf('dev')),
      ...(await accountsOf('prod')),
    ]);
    const acting = changes.filter(({ address }) => address.startsWith('google_service_account_iam_member.acting'));
    expect(acting.map(({ change }) => change.after!['role'])).toEqual(
      accounts.map(() => 'roles/iam.serviceAccountUser'),
    );
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
    expect(settings.map((one) => Object.keys(one).filter((name) => name.endsWith('_KEYS')).length)).toEqual([4, 0]);
    expect(settings[1]).toMatchObject({ STOWAGE_SCHEDULE: '0 0 4 * * *' });
    expect(settings[0]).not.toHaveProperty('STOWAGE_SCHEDULE');
  });

  test('a warm instance is kept', async () => {
    const [records] = afterOf(await watchedPlan('azure'), 'azurerm_function_app_flex_consumption');
    expect(records!['always_ready']).toEqual([{ name: 'http', instance_count: 1 }]);
  });

  test('what is down, throttled, denied, slow or fails is told', async () => {
    const changes = await watchedPlan('azure');
    expect(afterOf(changes, 'azurerm_application_insights_standard_web_test')).toMatchObject([{ enabled: true }]);
    expect(afterOf(changes, 'azurerm_monitor_metric_alert')).toMatchObject([{ name: 'stowage-dev-records-down' }]);
    const rules = changes.filter(({ type }) => type === 'azurerm_monitor_scheduled_query_rules_alert_v2');
    expect(rules.map(({ address }) => /\["([\w-]+)"\]$/.exec(address)![1])).toEqual([
      'denied',
      'errors',
      'latency',
      'throttled',
      'vacuum',
    ]);
  });

  test('a share counts over five minutes, and of a hundred requests at least', async () => {
    const rules = afterOf(await watchedPlan('azure'), 'azurerm_monitor_scheduled_query_rules_alert_v2');
    const shares = rules.filter(({ window_duration: window }) => window === 'PT5M');
    expect(shares).toHaveLength(4);
    const text = await readFile(path.join(INFRA, 'azure/functions/alerts.tf'), 'utf8');
    // The queries are known after the apply.
    for (const figure of ['found = countif(${share.codes})', 'p99 = percentile(duration, 99)'])
      expect(text).toContain(`summarize ${figure}, total = count() | where total >= `);
    expect(text.match(/where total >= \$\{var\.alerts\.requests_min\} and/g)).toHaveLength(2);
  });

  test('a workbook has the figures of all that is told by one, alerts or not', async () => {
    const text = await readFile(path.join(INFRA, 'azure/functions/alerts.tf'), 'utf8');
    const changes = await planOf('azure', functionsOf('azure'));
    expect(afterOf(changes, 'azurerm_application_insights_workbook')).toMatchObject([
      { name: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-/) as string, display_name: 'stowage-dev' },
    ]);
    // Its charts are known after the apply.
    expect(text).toMatch(/for title, chart in local\.charts/);
  });

  test('a budget begins in this month, and stays as it began', async () => {
    const begunMs = Date.now();
    const changes = await planOf('azure', { budget: { email: 'ops@example.com', amount: 20 } });
    const [budget] = afterOf(changes, 'azurerm_consumption_budget_resource_group');
    const [{ start_date: start }] = budget!['time_period'] as [{ readonly start_date: string }];
    expect([begunMs, Date.now()].map((ms) => `${new Date(ms).toISOString().slice(0, 7)}-01T00:00:00Z`)).toContain(
      start,
    );
    const text = await readFile(path.join(INFRA, 'azure/functions/alerts.tf'), 'utf8');
    expect(text).toContain('ignore_changes = [time_period]');
  });

  test('nothing that signs in by a shared key is left open', async () => {
    const changes = await planOf('azure', {});
    for (const type of ['azurerm_log_analytics_workspace', 'azurerm_application_insights'])
      expect(afterOf(changes, type)).toMatchObject([{ local_authentication_enabled: false }]);
  });

  test('no more logs are taken a day than the setting says', async () => {
    const changes = await planOf('azure', { logs_gb_daily: 0.5 });
    expect(afterOf(changes, 'azurerm_log_analytics_workspace')).toMatchObject([{ daily_quota_gb: 0.5 }]);
  });

  test('workflows of one repository’s environments may deploy, without a key, and with roles that cannot grow', async () => {
    const changes = await planOf('azure', { repository: 'somebody/something' }, 'ci');
    expect(afterOf(changes, 'azurerm_federated_identity_credential').map(({ subject }) => subject)).toEqual([
      'repo:somebody/something:environment:dev',
      'repo:somebody/something:environment:prod',
    ]);
    const roles = afterOf(changes, 'azurerm_role_assignment').map((one) => [one['role_definition_name'], one]);
    expect(roles.map(([name]) => name)).not.toContain('User Access Administrator');
    const granting = Object.fromEntries(roles)['Role Based Access Control Administrator'] as { condition: string };
    expect(granting.condition.match(/ForAnyOfAnyValues:GuidEquals \{([^}]+)\}/g)).toHaveLength(2);
  });
});

/** The accounts that infra/gcp makes for a stage. */
async function accountsOf(stage: string): Promise<unknown[]> {
  const made = afterOf(await planOf('gcp', { stage }), 'google_service_account');
  return made.map(({ account_id: id }) => id);
}

/** The roles that infra/gcp gives on the project itself. */
async function grantedRoles(): Promise<string[]> {
  const text = await readFile(path.join(INFRA, 'gcp/functions/main.tf'), 'utf8');
  const members = text.matchAll(/^resource "google_project_iam_member" [^]*?^ {2}role +?= "([^"]+)"/gm);
  return [...members].map((match) => match[1]!).sort();
}
