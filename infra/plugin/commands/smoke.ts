// Tries out a deployment with callers' credentials: each health, and a record through `records`.
import { randomUUID } from 'node:crypto';
import { type CloudEndpoint, headersFor, urlOf } from '../../cli/endpoints.ts';
import { ask, proveRecord } from '../../start/proof.ts';
import { askWith, type Context } from '../context/context.ts';
import { patiently } from '../stack/patience.ts';

/** Stays in the store, empty, so that the next smoke test need not create it. */
const TABLE = 'stowage-smoke';

/** Throws a DeployError with the last answer. */
export async function smoke(context: Context, endpoint: CloudEndpoint): Promise<void> {
  const failed = `${endpoint.cloud}: deployed, but it does not work`;
  await patiently(context, failed, () => once(context, endpoint));
  context.log(`${endpoint.cloud}: healthy, and a record came back as it was written`);
}

async function once({ run }: Context, endpoint: CloudEndpoint): Promise<void> {
  const served = async (name: string) => {
    return { url: urlOf(endpoint, name), headers: await headersFor(endpoint, name, 'admin', askWith(run)) };
  };
  for (const name of Object.keys(endpoint.urls)) await ask(await served(name), '/v1/health');
  const records = await served('records');
  await proveRecord(records, [TABLE, 'smoke'], JSON.stringify(randomUUID()));
  await ask(records, `/v1/tables/${TABLE}/records/smoke`, { method: 'DELETE' });
}
