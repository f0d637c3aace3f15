// Azure: az finds variables and uploads code, as Terraform's provider cannot on Flex Consumption.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { placeOf } from '../../cli/endpoints.ts';
import { DeployError, type Settings } from '../context/settings.ts';
import { firstOnPath, lastLines, outputOf, type Run } from '../context/tools.ts';
import { idOf, settleApps } from './apps.ts';
import { conversionText } from './replication.ts';
import { asked, type CloudSide, commonVariables, type Missing } from './cloud.ts';

const OUTPUTS = z.object({
  functions: z.record(z.string(), z.object({ app: z.string(), url: z.string().nullable() })),
  resource_group: z.string(),
  keys: z.object({ vault: z.string(), secrets: z.record(z.string(), z.string()) }),
});

/** The subscription must be registered for these: as in infra/azure/variables.tf. */
export const RESOURCE_PROVIDERS = [
  'Microsoft.AlertsManagement',
  'Microsoft.App',
  'Microsoft.Authorization',
  'Microsoft.Consumption',
  'Microsoft.Insights',
  'Microsoft.KeyVault',
  'Microsoft.OperationalInsights',
  'Microsoft.Storage',
  'Microsoft.Web',
] as const;

const UPLOAD = ['functionapp', 'deployment', 'source', 'config-zip'];
/** The platform answers an upload only when it has installed the package. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;

export const azure: CloudSide = {
  cloud: 'azure',

  holdings: {
    data: ['azurerm_storage_account.data', 'azurerm_resource_group.data'],
    functionType: 'azurerm_function_app_flex_consumption',
    settings: {
      location: 'provider.azure.region',
      account_replication_type: 'provider.azure.replication',
    },
    advice: (loss, { place }) => {
      const change = loss.reasons.find(({ attribute }) => attribute === 'account_replication_type');
      return change === undefined
        ? 'An account stays where it was made. Deploy another stage there, and copy the records.'
        : conversionText(loss, change.before, change.after, place);
    },
  },

  placeVariable: 'AZURE_SUBSCRIPTION_ID',

  originOf: ({ type, values: { id, name } }) => ({
    place: /^\/subscriptions\/([^/]+)/.exec(String(id))?.[1],
    name: type === 'azurerm_resource_group' ? String(name).replace(/-data$/, '') : undefined,
  }),

  async check(run, settings, missing) {
    if ((await firstOnPath('az')) === undefined) {
      missing.push({
        what: 'az, the Azure CLI',
        fix: 'see https://learn.microsoft.com/cli/azure/install-azure-cli, then: az login',
      });
      return { place: settings.azure.subscription, who: '' };
    }
    const wanted = settings.azure.subscription === '' ? [] : ['--subscription', settings.azure.subscription];
    const shown = await queried(run, ['account', 'show', ...wanted], '[id, user.name]');
    const [subscription, who] = (shown ?? '').split(/\s+/);
    if (subscription === undefined || subscription === '') {
      const isIn = (await queried(run, ['account', 'list'], '[].id')) !== undefined;
      missing.push(
        isIn && wanted.length > 0
          ? { what: `the Azure subscription ${wanted[1]!}, or access to it`, fix: 'az account list shows yours' }
          : { what: 'a login at Azure', fix: 'az login' },
      );
      return { place: settings.azure.subscription, who: '' };
    }
    const principal = await checkSubscription(run, subscription, settings, missing);
    return { place: subscription, who: who ?? '', ...(principal === undefined ? {} : { principal }) };
  },

  variables(settings, { place }, deployers) {
    const { table, replication, logsGbDaily } = settings.azure;
    const { budget } = settings;
    return {
      ...commonVariables('azure', settings, (name) => packageOf(settings, name)),
      subscription_id: place,
      // The provider would register them for a plan, too.
      resource_providers: [],
      table,
      replication,
      logs_gb_daily: logsGbDaily,
      deployers,
      budget: budget === undefined ? null : { email: budget.email, amount: budget.amount },
    };
  },

  endpoint(outputs, { place }) {
    if (outputs['functions'] === undefined || outputs['functions'] === null) return undefined;
    const { functions, resource_group: resourceGroup, keys } = OUTPUTS.parse(outputs);
    const each = Object.entries(functions);
    return {
      cloud: 'azure',
      // A scheduled function has an app and no address.
      urls: Object.fromEntries(each.flatMap(([name, { url }]) => (url === null ? [] : [[name, url]]))),
      apps: Object.fromEntries(each.map(([name, { app }]) => [name, app])),
      subscription: place,
      resourceGroup,
      ...keys,
    };
  },

  // The query language of Application Insights; az offers to install the extension that sends it.
  logsCommand: ({ service, stage }, { place }, name) =>
    `az monitor app-insights query --subscription ${place} --resource-group ${service}-${stage} --app ${service}-${stage} --offset 1h --analytics-query 'union traces, exceptions | where cloud_RoleName startswith "${service}-${stage}-${name}-" | top 100 by timestamp | project timestamp, message, outerMessage' --output table`,

  isPassing: (said) => /ScopeLocked|PrincipalNotFound/.test(said),

  async settle(run, endpoint) {
    if (endpoint.cloud === 'azure') await settleApps(run, endpoint);
  },

  async unprotect(run, resources) {
    for (const { type, values } of resources) {
      if (type !== 'azurerm_management_lock') continue;
      const { code, stderr } = await run('az', ['lock', 'delete', '--ids', String(values['id'])]);
      // Gone already, if a removal was interrupted here.
      if (code !== 0 && !/NotFound/.test(stderr)) throw new DeployError(`the lock stays: ${lastLines(stderr)}`);
    }
  },

  async upload(run, endpoint, settings) {
    if (endpoint.cloud !== 'azure') return;
    for (const [name, app] of Object.entries(endpoint.apps)) {
      const file = packageOf(settings, name);
      const hash = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      const resource = ['--resource-id', idOf(endpoint, app)];
      // An upload restarts the app.
      if ((await queried(run, ['tag', 'list', ...resource], 'properties.tags.package')) === hash) continue;
      const update = ['tag', 'update', ...resource, '--operation', 'Merge', '--output', 'none', '--tags'];
      // Nobody knows what an upload that breaks off has installed.
      await outputOf(run, 'az', [...update, 'package=unknown']);
      const args = [...UPLOAD, ...placeOf(endpoint, app), '--src', file];
      const { code, stdout, stderr } = await run('az', args, { timeoutMs: UPLOAD_TIMEOUT_MS });
      if (code !== 0) throw new DeployError(`${name}: ${lastLines(stderr || stdout)}`);
      await outputOf(run, 'az', [...update, `package=${hash}`]);
    }
  },
};

/** Gives the object id of whoever is logged in. */
async function checkSubscription(
  run: Run,
  id: string,
  { azure: { region } }: Settings,
  missing: Missing[],
): Promise<string | undefined> {
  const place = ['--subscription', id];
  const [token, regions, registered] = await Promise.all([
    queried(run, ['account', 'get-access-token', ...place], 'accessToken'),
    queried(run, ['functionapp', 'list-flexconsumption-locations', ...place], '[].name'),
    queried(run, ['provider', 'list', ...place], "[?registrationState=='Registered'].namespace"),
  ]);
  if (token === undefined) {
    missing.push({ what: 'a login at Azure that is still valid', fix: 'az login' });
    return undefined;
  }
  const present = new Set((registered ?? '').split(/\s+/));
  for (const namespace of RESOURCE_PROVIDERS.filter((one) => !present.has(one))) {
    const mend = ['az', 'provider', 'register', '--namespace', namespace, '--wait', ...place] as const;
    missing.push({ what: `the resource provider ${namespace}`, fix: mend.join(' '), mend, isForApply: true });
  }
  const names = (regions ?? '').split('\n').map((name) => name.trim().toLowerCase().replaceAll(' ', ''));
  if (regions !== undefined && !names.includes(region)) {
    missing.push({
      what: `Flex Consumption in ${region}`,
      fix: `--param azureRegion=REGION with one of ${names.filter((name) => name !== '').join(', ')}`,
    });
  }
  return objectIdIn(token);
}

/** The answer of az, as plain text. */
async function queried(run: Run, args: readonly string[], query: string): Promise<string | undefined> {
  return await asked(run, 'az', [...args, '--query', query, '--output', 'tsv']);
}

/** The claim that Azure's roles and policies go by; no right to read the directory is needed. */
function objectIdIn(token: string): string | undefined {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { oid?: unknown };
    return typeof claims.oid === 'string' ? claims.oid : undefined;
  } catch {
    return undefined;
  }
}

function packageOf({ outDir }: Settings, name: string): string {
  return path.join(outDir, `azure-${name}.zip`);
}
