// `serverless info`: prints addresses, commands that read the credentials, and tables. The
// endpoints file has the addresses of a deployment's functions, for `stowage compare` and others.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type CloudEndpoint, endpointsSchema, headersFor, urlOf } from '../../cli/endpoints.ts';
import { readText } from '../../cli/terminal-text.ts';
import { ask } from '../../start/proof.ts';
import { askWith, type Context } from '../context/deploy-context.ts';
import type { Settings } from '../context/deploy-settings.ts';
import { openStacks, presentOf } from '../stack/stack.ts';

export async function info(context: Context): Promise<void> {
  const endpoints = await findEndpoints(context);
  if (endpoints.length > 0) context.log(await infoText(context, endpoints));
}

/** The deployed functions, which it also writes to the endpoints file. */
export async function findEndpoints(context: Context): Promise<readonly CloudEndpoint[]> {
  const endpoints: CloudEndpoint[] = [];
  for (const stack of await openStacks(context)) {
    const { endpoint } = await presentOf(stack);
    if (endpoint === undefined)
      context.log(`${stack.side.cloud}: no functions are deployed; npx serverless deploy brings them`);
    else endpoints.push(endpoint);
  }
  await writeEndpoints(context.settings, endpoints);
  return endpoints;
}

/** Addresses, places of credentials, tables. If the tables cannot be read, prints the error. */
export async function infoText({ run }: Context, endpoints: readonly CloudEndpoint[]): Promise<string> {
  const parts = endpoints.map(async (endpoint) => {
    const tables = await tablesOf(endpoint, run).catch((error: unknown) => [`not known: ${String(error)}`]);
    return [
      endpoint.cloud,
      ...Object.entries(endpoint.urls).map(([name, url]) => `  ${name.padEnd(8)} ${url}`),
      `  gate     ${gateText(endpoint)}`,
      `  app keys ${keysText(endpoint)}`,
      `  tables   ${tables.length === 0 ? 'none' : tables.join(', ')}`,
    ].join('\n');
  });
  return (await Promise.all(parts)).join('\n');
}

async function tablesOf(endpoint: CloudEndpoint, run: Context['run']): Promise<string[]> {
  const headers = await headersFor(endpoint, 'records', 'read', askWith(run));
  const listed = await ask({ url: urlOf(endpoint, 'records'), headers }, '/v1/tables');
  const { tables } = JSON.parse(listed) as { tables: { name: string }[] };
  return tables.map(({ name }) => name);
}

function gateText(endpoint: CloudEndpoint): string {
  return endpoint.cloud === 'gcp'
    ? 'X-Serverless-Authorization: Bearer $(gcloud auth print-identity-token)'
    : `x-functions-key: az functionapp keys list --resource-group ${endpoint.resourceGroup} --name APP`;
}

/** The command that prints the app keys of each role, newer ones first. */
function keysText(endpoint: CloudEndpoint): string {
  const commands =
    endpoint.cloud === 'gcp'
      ? Object.values(endpoint.keys).map(
          (secret) => `gcloud secrets versions access latest --secret=${secret} --project=${endpoint.project}`,
        )
      : Object.values(endpoint.keys).map(
          ({ vault, secret }) => `az keyvault secret show --vault-name ${vault} --name ${secret} --query value -o tsv`,
        );
  return commands.join('\n           ');
}

/** Writes addresses, never secrets, and keeps other clouds'. Undefined without any address. */
export async function writeEndpoints(
  settings: Settings,
  endpoints: readonly CloudEndpoint[],
): Promise<string | undefined> {
  const file = endpointsFile(settings);
  const others = (await endpointsIn(file)).filter(({ cloud }) => !settings.clouds.includes(cloud));
  const all = [...endpoints, ...others];
  if (all.length === 0) {
    await rm(file, { force: true });
    return undefined;
  }
  await mkdir(settings.outDir, { recursive: true });
  await writeFile(file, `${JSON.stringify({ stage: settings.stage, endpoints: all }, undefined, 2)}\n`);
  return file;
}

/** Empty if the file is absent or invalid: it is about to be written. */
async function endpointsIn(file: string): Promise<readonly CloudEndpoint[]> {
  try {
    return endpointsSchema.parse(JSON.parse(await readText(file))).endpoints;
  } catch {
    return [];
  }
}

export function endpointsFile({ outDir, stage }: Settings): string {
  return path.join(outDir, `endpoints-${stage}.json`);
}
