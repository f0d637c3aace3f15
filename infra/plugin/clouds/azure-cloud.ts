// Azure: az finds values for Terraform's variables, uploads the code, because Terraform's provider
// cannot do that on Flex Consumption, and mends the function apps after every apply.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { type AzureEndpoint, placeOf } from '../../cli/endpoints.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';
import { firstOnPath, lastLines, outputOf, type Run } from '../context/deploy-context.ts';
import { type Account, asked, type CloudSide, commonVariables, isServing, type Missing } from './cloud.ts';

const OUTPUTS = z.object({
  functions: z.record(z.string(), z.object({ app: z.string(), url: z.string().nullable() })),
  resource_group: z.string(),
  keys: z.record(z.string(), z.object({ vault: z.string(), secret: z.string() })),
});

/** The subscription must be registered for these. */
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

/** As runtime_version in infra/azure/functions.tf. */
const NODE = '24';
/** Each question starts az, a process of 80 MB. */
const ASKED_AT_ONCE = 4;

const CONVERSION = 'https://learn.microsoft.com/azure/storage/common/redundancy-migration';
const UPLOAD = ['functionapp', 'deployment', 'source', 'config-zip'];
/** The platform answers an upload only when it has installed the package. */
const UPLOAD_TIMEOUT_MS = 15 * 60_000;

// With these settings, which azurerm writes, the host of an app with an identity does not start:
// https://github.com/hashicorp/terraform-provider-azurerm/issues/29693.
const STRAY_SETTINGS = ['AzureWebJobsStorage', 'DEPLOYMENT_STORAGE_CONNECTION_STRING'] as const;

/** The first version that lists references. */
const API_VERSION = '2022-03-01';

const REFERENCES = z.object({
  value: z.array(
    z.object({
      name: z.string(),
      properties: z.object({
        status: z.string().optional(),
        secretName: z.string().optional(),
        vaultName: z.string().optional(),
        details: z.string().optional(),
      }),
    }),
  ),
});

export const azure: CloudSide = {
  cloud: 'azure',

  holdings: {
    data: ['azurerm_storage_account.data', 'azurerm_resource_group.data'],
    functionType: 'azurerm_function_app_flex_consumption',
    settings: {
      location: 'provider.azure.region',
      account_replication_type: 'provider.azure.replication',
    },
    advice: ({ reasons }) =>
      reasons.some(({ attribute }) => attribute === 'account_replication_type')
        ? `Zones come and go by Azure's own conversion, in place: ${CONVERSION}. Once it is done, deploy with the new setting.`
        : 'An account stays where it was made. Deploy another stage there, and copy the records.',
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
    return { place: subscription, who: who ?? '', ...(await checkSubscription(run, subscription, settings, missing)) };
  },

  variables(settings, { place, variables }, deployers) {
    const { table, replication, logsGbDaily } = settings.azure;
    const { budget } = settings;
    return {
      ...commonVariables('azure', settings, (name) => packageOf(settings, name)),
      ...variables,
      subscription_id: place,
      table,
      replication,
      logs_gb_daily: logsGbDaily,
      deployers,
      budget: budget && { email: budget.email, amount: budget.amount },
    };
  },

  endpoint(outputs, { place }) {
    if (!isServing(outputs)) return undefined;
    const { functions, resource_group: resourceGroup, keys } = OUTPUTS.parse(outputs);
    const each = Object.entries(functions);
    return {
      cloud: 'azure',
      // A scheduled function has an app and no address.
      urls: Object.fromEntries(each.flatMap(([name, { url }]) => (url === null ? [] : [[name, url]]))),
      apps: Object.fromEntries(each.map(([name, { app }]) => [name, app])),
      subscription: place,
      resourceGroup,
      keys,
    };
  },

  isPassing: (said) => /ScopeLocked|PrincipalNotFound/.test(said),

  async settle({ run, settings }, endpoint) {
    if (endpoint.cloud !== 'azure') return;
    await settleApps(run, endpoint);
    await uploadChanged(run, endpoint, settings);
  },

  // The references name no version. Azure would follow them to a new one within a day.
  async rereadKeys({ run }, endpoint) {
    if (endpoint.cloud !== 'azure') return;
    for (const name of Object.keys(endpoint.urls)) await refreshReferences(run, endpoint, endpoint.apps[name]!);
  },

  async unprotect(run, resources) {
    for (const { type, values } of resources) {
      if (type !== 'azurerm_management_lock') continue;
      const { code, stderr } = await run('az', ['lock', 'delete', '--ids', String(values['id'])]);
      // An interrupted removal may have deleted it already.
      if (code !== 0 && !/NotFound/.test(stderr)) throw new DeployError(`the lock stays: ${lastLines(stderr)}`);
    }
  },
};

/** Throws a DeployError that names a secret which the app does not get. */
async function settleApps(run: Run, endpoint: AzureEndpoint): Promise<void> {
  for (const [name, app] of Object.entries(endpoint.apps)) {
    await deleteStraySettings(run, endpoint, app);
    // A function without a caller has no app keys.
    if (!(name in endpoint.urls)) continue;
    // Azure remembers for up to a day that it refused a secret while the app's right was new.
    if ((await unresolved(run, endpoint, app)).length === 0) continue;
    await refreshReferences(run, endpoint, app);
    const [left] = await unresolved(run, endpoint, app);
    if (left !== undefined) throw new DeployError(`${app} does not get the secret ${left}`);
  }
}

/** Has an app ask for its secrets now, in their newest version. */
async function refreshReferences(run: Run, endpoint: AzureEndpoint, app: string): Promise<void> {
  await rest(run, 'post', `${referencesOf(endpoint, app)}/refresh`);
}

async function deleteStraySettings(run: Run, endpoint: AzureEndpoint, app: string): Promise<void> {
  const settings = ['functionapp', 'config', 'appsettings'];
  const place = placeOf(endpoint, app);
  // Asks for names alone, as the value of a setting may be a secret.
  const query = `[?${STRAY_SETTINGS.map((name) => `name=='${name}'`).join(' || ')}].name`;
  const present = await outputOf(run, 'az', [...settings, 'list', ...place, '--query', query, '--output', 'tsv']);
  const names = present.split(/\s+/).filter((name) => name !== '');
  if (names.length === 0) return;
  await outputOf(run, 'az', [...settings, 'delete', ...place, '--setting-names', ...names, '--output', 'none']);
}

/** The app's references that give no secret, each with the reason. */
async function unresolved(run: Run, endpoint: AzureEndpoint, app: string): Promise<string[]> {
  const { value } = REFERENCES.parse(JSON.parse(await rest(run, 'get', referencesOf(endpoint, app))));
  return value.flatMap(({ properties: { status = 'no status', secretName = '', vaultName = '', details = '' } }) =>
    status === 'Resolved' ? [] : [`${secretName} of the key vault ${vaultName}: ${status} ${details}`.trim()],
  );
}

function referencesOf(endpoint: AzureEndpoint, app: string): string {
  return `${idOf(endpoint, app)}/config/configreferences/appsettings`;
}

function idOf({ subscription, resourceGroup }: AzureEndpoint, app: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Web/sites/${app}`;
}

/** An address that begins with a slash is one of the resource manager of az's own cloud. */
async function rest(run: Run, method: 'get' | 'post', address: string): Promise<string> {
  return await outputOf(run, 'az', ['rest', '--method', method, '--url', `${address}?api-version=${API_VERSION}`]);
}

/** Uploads only what differs from the hash in the tag `package`, as an upload restarts the app. */
async function uploadChanged(run: Run, endpoint: AzureEndpoint, settings: Settings): Promise<void> {
  for (const [name, app] of Object.entries(endpoint.apps)) {
    const file = packageOf(settings, name);
    const hash = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    const resource = ['--resource-id', idOf(endpoint, app)];
    if ((await queried(run, ['tag', 'list', ...resource], 'properties.tags.package')) === hash) continue;
    const update = ['tag', 'update', ...resource, '--operation', 'Merge', '--output', 'none', '--tags'];
    // If the upload breaks off, it is not known what is installed.
    await outputOf(run, 'az', [...update, 'package=unknown']);
    const args = [...UPLOAD, ...placeOf(endpoint, app), '--src', file];
    const { code, stdout, stderr } = await run('az', args, { timeoutMs: UPLOAD_TIMEOUT_MS });
    if (code !== 0) throw new DeployError(`${name}: ${lastLines(stderr || stdout)}`);
    await outputOf(run, 'az', [...update, `package=${hash}`]);
  }
}

/** The caller's object id, and what the subscription has and lacks for the stage. */
async function checkSubscription(
  run: Run,
  id: string,
  { service, stage, azure: { region } }: Settings,
  missing: Missing[],
): Promise<Pick<Account, 'principal' | 'variables'>> {
  const place = ['--subscription', id];
  const ours = `[?tags.service=='${service}' && tags.stage=='${stage}'].name`;
  const [token, regions, registered, groups] = await Promise.all([
    queried(run, ['account', 'get-access-token', ...place], 'accessToken'),
    queried(run, ['functionapp', 'list-flexconsumption-locations', ...place], '[].name'),
    queried(run, ['provider', 'list', ...place], "[?registrationState=='Registered'].namespace"),
    queried(run, ['group', 'list', ...place], ours),
  ]);
  if (token === undefined) {
    missing.push({ what: 'a login at Azure that is still valid', fix: 'az login' });
    return {};
  }
  const names = wordsIn(regions?.toLowerCase().replaceAll(/(?<=\w) (?=\w)/g, ''));
  if (names.length > 0) await checkRegion(run, region, names, missing);
  const principal = objectIdIn(token);
  return {
    ...(principal !== undefined && { principal }),
    variables: {
      present_groups: wordsIn(groups),
      // Somebody who may not list them may not register them either, so others must have done that.
      resource_providers:
        registered === undefined ? [] : RESOURCE_PROVIDERS.filter((one) => !wordsIn(registered).includes(one)),
    },
  };
}

/** ARM accepts a version of Node.js that the region lacks, but then no app starts. */
async function checkRegion(run: Run, region: string, regions: readonly string[], missing: Missing[]): Promise<void> {
  if (regions.includes(region) && (await hasNode(run, region))) return;
  const offering: string[] = [];
  for (let at = 0; at < regions.length; at += ASKED_AT_ONCE) {
    const some = regions.slice(at, at + ASKED_AT_ONCE);
    const has = await Promise.all(some.map((one) => hasNode(run, one)));
    offering.push(...some.filter((_, index) => has[index]));
  }
  missing.push({
    what: `Flex Consumption with Node.js ${NODE} in ${region}`,
    fix: `--param azureRegion=REGION with one of ${offering.join(', ')}`,
  });
}

/** True if az cannot say: that must not prevent a deployment. */
async function hasNode(run: Run, region: string): Promise<boolean> {
  const list = ['functionapp', 'list-flexconsumption-runtimes', '--location', region, '--runtime', 'node'];
  const listed = await queried(run, list, '[].version');
  return listed === undefined || wordsIn(listed).some((version) => version.split('.')[0] === NODE);
}

function wordsIn(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

async function queried(run: Run, args: readonly string[], query: string): Promise<string | undefined> {
  return await asked(run, 'az', [...args, '--query', query, '--output', 'tsv']);
}

/** The claim that Azure's roles name. Reading it from the token needs no right in the directory. */
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
