// Addresses and credentials of deployed functions. A file without secrets has the addresses; tokens
// and keys are asked for with the caller's own login, and kept nowhere.
import * as z from 'zod';
import { keyText } from '../../functions/http/key-text.ts';
import type { AskTool } from './external-tools.ts';

const names = z.record(z.string(), z.string());
/** Tokens and keys are sent there, so http: is allowed to this machine alone. */
const url = z
  .url({ protocol: /^https?$/ })
  .refine((text) => /^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/i.test(text), {
    error: 'an address begins with https://, or is of this machine',
  });
const urls = z.record(z.string(), url);

const gcpEndpoint = z.object({
  cloud: z.literal('gcp'),
  /** By function: its address, which is also the audience of its ID tokens. */
  urls,
  project: z.string(),
  region: z.string(),
  /** By role: the secret whose newest version holds the app keys. */
  keys: names,
});

const azureEndpoint = z.object({
  cloud: z.literal('azure'),
  urls,
  /** By function: its app. */
  apps: names,
  subscription: z.string(),
  resourceGroup: z.string(),
  /** By role: the secret whose newest version holds the app keys, and its vault. */
  keys: z.record(z.string(), z.object({ vault: z.string(), secret: z.string() })),
});

export const endpointsSchema = z.object({
  stage: z.string(),
  endpoints: z.array(z.discriminatedUnion('cloud', [gcpEndpoint, azureEndpoint])),
});

/** A function or a key is missing; the message names it, and the command that brings it. */
export class EndpointError extends Error {}

export type CloudEndpoint = z.infer<typeof endpointsSchema>['endpoints'][number];

export type AzureEndpoint = z.infer<typeof azureEndpoint>;

export type KeyRole = 'read' | 'write' | 'admin' | 'compare';

/** Headers for this function: the platform's token or key, and an app key of this role. */
export async function headersFor(
  endpoint: CloudEndpoint,
  name: string,
  role: KeyRole,
  ask: AskTool,
): Promise<Record<string, string>> {
  const [gate, texts] = await Promise.all([gateOf(endpoint, name, ask), appKeysOf(endpoint, role, ask)]);
  // The newest comes first; older ones are about to be retired. A key with a name is of a caller.
  const own = texts.map(keyText).find((read) => read !== undefined && read.name === undefined);
  if (own === undefined)
    throw new EndpointError(`${endpoint.cloud}: all keys of the role ${role} are of callers: ${ADD}`);
  return { ...gate, Authorization: `Bearer ${own.key}` };
}

const ADD = '`npx serverless keys --add` makes one of the deployment';

/** The address of a function. Throws if it is not deployed. */
export function urlOf({ cloud, urls }: CloudEndpoint, name: string): string {
  const found = urls[name];
  if (found === undefined) throw new EndpointError(`${name} is not deployed on ${cloud}`);
  return found;
}

/** The texts of a role's app keys, as `key-text.ts` reads them, newer ones first. */
export async function appKeysOf(endpoint: CloudEndpoint, role: KeyRole, ask: AskTool): Promise<string[]> {
  const text = await secretText(endpoint, role, ask);
  return text.split(',').map((one) => one.trim());
}

/** The options by which az finds an app. */
export function placeOf({ subscription, resourceGroup }: AzureEndpoint, app: string): string[] {
  return ['--subscription', subscription, '--resource-group', resourceGroup, '--name', app];
}

/** The platform's token or key alone. */
export async function gateOf(endpoint: CloudEndpoint, name: string, ask: AskTool): Promise<Record<string, string>> {
  if (endpoint.cloud === 'gcp') {
    // Another header than Authorization, which has the app key.
    return { 'X-Serverless-Authorization': `Bearer ${await identityToken(urlOf(endpoint, name), ask)}` };
  }
  const app = endpoint.apps[name];
  if (app === undefined) throw new EndpointError(`${name} is not deployed on azure`);
  const place = placeOf(endpoint, app);
  const query = ['--query', 'functionKeys.default', '--output', 'tsv'];
  return { 'x-functions-key': await ask('az', ['functionapp', 'keys', 'list', ...place, ...query]) };
}

// The token of a person names no audience, but that of a service account has to. With a federated
// login gcloud can make it only by impersonation.
async function identityToken(audience: string, ask: AskTool): Promise<string> {
  const account = await ask('gcloud', ['config', 'get-value', 'account']);
  const print = ['auth', 'print-identity-token'];
  if (account.startsWith('principal:'))
    throw new EndpointError(`${account} has no ID tokens, which Google's gate asks for: ${IMPERSONATE}`);
  if (!account.endsWith('.gserviceaccount.com')) return await ask('gcloud', print);
  try {
    return await ask('gcloud', [...print, `--audiences=${audience}`]);
  } catch {
    const by = [`--impersonate-service-account=${account}`, `--audiences=${audience}`, '--include-email'];
    return await ask('gcloud', [...print, ...by]);
  }
}

const IMPERSONATE = 'let the login impersonate a service account that has roles/run.invoker (infra/gcp/ci makes one)';

async function secretText(endpoint: CloudEndpoint, role: KeyRole, ask: AskTool): Promise<string> {
  if (!(role in endpoint.keys)) throw new EndpointError(`no keys of the role ${role} on ${endpoint.cloud}`);
  if (endpoint.cloud === 'gcp') {
    const place = [`--secret=${endpoint.keys[role]!}`, `--project=${endpoint.project}`];
    return await ask('gcloud', ['secrets', 'versions', 'access', 'latest', ...place]);
  }
  const { vault, secret } = endpoint.keys[role]!;
  const place = ['--subscription', endpoint.subscription, '--vault-name', vault, '--name', secret];
  return await ask('az', ['keyvault', 'secret', 'show', ...place, '--query', 'value', '--output', 'tsv']);
}
