// Google Cloud: gcloud finds values for Terraform's variables, and Terraform uploads the code.
import path from 'node:path';
import * as z from 'zod';
import { firstOnPath, outputOf, type Run } from '../context/deploy-context.ts';
import { asked, type CloudSide, commonVariables, isServing, type Missing } from './cloud.ts';

/** Terraform enables all other APIs through these two. */
const APIS = ['serviceusage.googleapis.com', 'cloudresourcemanager.googleapis.com'];

/** gcloud answers once the new revision serves. */
const UPDATE_TIMEOUT_MS = 10 * 60_000;

const OUTPUTS = z.object({
  functions: z.record(z.string(), z.object({ url: z.string() })),
  region: z.string(),
  keys: z.record(z.string(), z.string()),
});

export const gcp: CloudSide = {
  cloud: 'gcp',

  holdings: {
    data: ['google_firestore_database.store'],
    functionType: 'google_cloudfunctions2_function',
    settings: {
      location_id: 'provider.gcp.databaseLocation (or provider.gcp.region, while that is empty)',
      location: 'provider.gcp.region',
    },
    advice: () =>
      'A database stays where it was made. Deploy another stage there and copy the records, or keep the database in its place with provider.gcp.databaseLocation.',
  },

  placeVariable: 'GOOGLE_CLOUD_PROJECT',

  originOf: ({ type, values: { project, name } }) => ({
    place: typeof project === 'string' ? project : undefined,
    name: type === 'google_firestore_database' ? String(name) : undefined,
  }),

  async check(run, settings, missing) {
    if ((await firstOnPath('gcloud')) === undefined) {
      missing.push({
        what: 'gcloud, the Google Cloud CLI',
        fix: 'see https://cloud.google.com/sdk/docs/install, then: gcloud auth login --update-adc',
      });
      return { place: settings.gcp.project, who: '' };
    }
    const [who, token, configured] = await Promise.all([
      asked(run, 'gcloud', ['auth', 'list', '--filter=status:ACTIVE', '--format=value(account)']),
      asked(run, 'gcloud', ['auth', 'application-default', 'print-access-token']),
      settings.gcp.project === '' ? asked(run, 'gcloud', ['config', 'get-value', 'project']) : settings.gcp.project,
    ]);
    const project = configured === '(unset)' ? undefined : configured;
    if (who === undefined || token === undefined) {
      const what = who === undefined ? 'a login at Google Cloud' : 'credentials for Terraform at Google Cloud';
      missing.push({ what, fix: 'gcloud auth login --update-adc' });
    }
    // Functions are called with ID tokens, which only accounts have.
    if (who?.startsWith('principal:') === true) {
      missing.push({
        what: `a service account to act as: ${who} has no ID tokens`,
        fix: 'let the login impersonate one; infra/gcp/ci makes it, with the roles that a deployment needs',
      });
    }
    if (project === undefined) {
      missing.push({ what: 'the Google Cloud project to use', fix: 'gcloud config set project PROJECT_ID' });
    }
    if (who !== undefined && project !== undefined) await checkProject(run, project, missing);
    return { place: project ?? '', who: who ?? '', ...(who === undefined ? {} : { principal: memberOf(who) }) };
  },

  variables(settings, { place }, deployers) {
    const { databaseLocation, pointInTimeRecovery, backupDays, processorsMax, namespace, invokers } = settings.gcp;
    const { budget } = settings;
    return {
      ...commonVariables('gcp', settings, (name) => path.join(settings.outDir, `gcp-${name}.zip`)),
      project: place,
      database_location: databaseLocation,
      point_in_time_recovery: pointInTimeRecovery,
      backup_days: backupDays,
      processors_max: processorsMax,
      namespace,
      deployers,
      invokers: [...new Set(invokers.flatMap((invoker) => (invoker === 'deployer' ? deployers : [invoker])))],
      budget: budget === undefined ? null : { billing_account: budget.billingAccount, amount: budget.amount },
    };
  },

  endpoint(outputs, { place }) {
    if (!isServing(outputs)) return undefined;
    const { functions, ...rest } = OUTPUTS.parse(outputs);
    const urls = Object.fromEntries(Object.entries(functions).map(([name, { url }]) => [name, url]));
    return { cloud: 'gcp', urls, project: place, ...rest };
  },

  // New roles, accounts and APIs take minutes to reach the build, and metrics to reach the alerts.
  // A build that fails for another reason fails again.
  isPassing: (said) =>
    /missing permission on the build service account|cannot find metric\(s\) that match type|permission.{0,20}denied|does not have \S+ access|service account .* does not exist|SERVICE_DISABLED|has not been used in project/i.test(
      said,
    ),

  // Terraform has uploaded the package and made the function's revision.
  settle: async () => {},

  // An instance reads the newest keys when it starts, and a changed label is a new revision.
  async rereadKeys({ run, settings: { service, stage } }, endpoint) {
    if (endpoint.cloud !== 'gcp') return;
    const place = [`--project=${endpoint.project}`, `--region=${endpoint.region}`, '--quiet'];
    const label = `--update-labels=keys-read=${Math.floor(Date.now() / 1_000)}`;
    for (const name of Object.keys(endpoint.urls)) {
      const args = ['run', 'services', 'update', `${service}-${stage}-${name}`, ...place, label];
      await outputOf(run, 'gcloud', args, { timeoutMs: UPDATE_TIMEOUT_MS });
    }
  },

  async unprotect(run, resources) {
    for (const { type, values } of resources) {
      if (type !== 'google_firestore_database') continue;
      const place = [`--database=${String(values['name'])}`, `--project=${String(values['project'])}`];
      const update = ['firestore', 'databases', 'update', ...place, '--no-delete-protection', '--quiet'];
      await outputOf(run, 'gcloud', update);
    }
  },
};

async function checkProject(run: Run, project: string, missing: Missing[]): Promise<void> {
  const [number, billing, enabled] = await Promise.all([
    asked(run, 'gcloud', ['projects', 'describe', project, '--format=value(projectNumber)']),
    asked(run, 'gcloud', ['billing', 'projects', 'describe', project, '--format=value(billingEnabled)']),
    asked(run, 'gcloud', ['services', 'list', '--enabled', `--project=${project}`, '--format=value(config.name)']),
  ]);
  if (number === undefined) {
    missing.push({
      what: `the Google Cloud project ${project}, or access to it`,
      fix: 'gcloud projects list shows yours; gcloud config set project PROJECT_ID',
    });
    return;
  }
  if (billing?.toLowerCase() === 'false') {
    missing.push({
      what: `billing for the project ${project}`,
      fix: `gcloud billing projects link ${project} --billing-account=ACCOUNT_ID`,
    });
  }
  const names = new Set((enabled ?? '').split(/\s+/));
  const absent = APIS.filter((api) => !names.has(api));
  if (absent.length > 0) {
    const fix = `gcloud services enable ${absent.join(' ')} --project=${project}`;
    missing.push({ what: `APIs of the project ${project}`, fix });
  }
}

function memberOf(account: string): string {
  return `${account.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user'}:${account}`;
}
