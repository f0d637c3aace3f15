// Mends Azure's function apps after every apply: stray settings, and references to secrets.
import * as z from 'zod';
import { type AzureEndpoint, placeOf } from '../../cli/endpoints.ts';
import { DeployError } from '../context/deploy-settings.ts';
import { outputOf, type Run } from '../context/cloud-tools.ts';

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

/** Throws a DeployError that names a secret which the app does not get. */
export async function settleApps(run: Run, endpoint: AzureEndpoint): Promise<void> {
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
export async function refreshReferences(run: Run, endpoint: AzureEndpoint, app: string): Promise<void> {
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

export function idOf({ subscription, resourceGroup }: AzureEndpoint, app: string): string {
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/Microsoft.Web/sites/${app}`;
}

/** An address that begins with a slash is one of the resource manager of az's own cloud. */
async function rest(run: Run, method: 'get' | 'post', address: string): Promise<string> {
  return await outputOf(run, 'az', ['rest', '--method', method, '--url', `${address}?api-version=${API_VERSION}`]);
}
