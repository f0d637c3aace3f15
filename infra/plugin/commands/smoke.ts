// Tries out a deployment with callers' credentials: each health, a record through `records`, and
// the transports through `compare`.
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type CloudEndpoint, headersFor, urlOf } from '../../cli/endpoints.ts';
import { ask, proveRecord } from '../../start/proof.ts';
import { askWith, type Context, patiently } from '../context/deploy-context.ts';
import { DeployError, transportOf } from '../context/deploy-settings.ts';

/** It stays, empty, so that the next smoke test need not create it. */
const TABLE = 'stowage-smoke';

const EXAMINED = z.object({
  checks: z.int(),
  broken: z.array(z.object({ check: z.string(), why: z.string() })),
});

/** Throws a DeployError with the last answer, or if the transport in use breaks a promise. */
export async function smoke(context: Context, endpoint: CloudEndpoint): Promise<void> {
  const failed = `${endpoint.cloud}: deployed, but it does not work`;
  await patiently(context, failed, () => once(context, endpoint));
  context.log(`${endpoint.cloud}: healthy, and a record came back as it was written`);
  context.log(`${endpoint.cloud}: ${await transportText(context, endpoint)}`);
}

/** Says which transport is in use and why. Throws a DeployError if it breaks a promise. */
async function transportText(context: Context, endpoint: CloudEndpoint): Promise<string> {
  const [setting, used] = [context.settings.store.transport, transportOf(context.settings)];
  const inUse = `store.transport is ${setting}, so requests go over ${NAMES[used]}`;
  if (!('compare' in endpoint.urls)) return `${inUse}; nothing was tried, as the function compare is not deployed`;
  const found = { sdk: await examined(context, endpoint, 'sdk'), own: await examined(context, endpoint, 'own') };
  const other = used === 'own' ? 'sdk' : 'own';
  if (found[used].isBroken) throw new DeployError(`${endpoint.cloud}: ${inUse}, which ${found[used].text}`);
  const isOffered = setting === 'auto' && !found.own.isBroken && found.own.isTried;
  const advice = isOffered
    ? '. To use them, which takes less processor time, set in serverless.yml: transport: own'
    : '';
  return `${inUse}, which ${found[used].text}; ${NAMES[other]} ${found[other].text}${advice}`;
}

const NAMES = { own: "the drivers' own requests", sdk: "the cloud's SDK" } as const;

/** An examination that cannot be made is no reason to stop a deployment. */
async function examined({ run }: Context, endpoint: CloudEndpoint, transport: 'own' | 'sdk') {
  try {
    const headers = await headersFor(endpoint, 'compare', 'compare', askWith(run));
    const init = { method: 'POST', body: JSON.stringify({ transport }) };
    const answer = await ask({ url: urlOf(endpoint, 'compare'), headers }, '/v1/compare/doctor', init);
    const { checks, broken } = EXAMINED.parse(JSON.parse(answer));
    const [first] = broken;
    if (first === undefined)
      return { isTried: true, isBroken: false, text: `kept all ${checks} promises that were tried` };
    const text = `broke ${broken.length} of ${checks} promises, the first that ${first.check}: ${first.why}`;
    return { isTried: true, isBroken: true, text };
  } catch (error) {
    return { isTried: false, isBroken: false, text: `could not be tried: ${String(error)}` };
  }
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
