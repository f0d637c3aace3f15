// Tries out a deployment with callers' credentials: each health, and a record through `records`.
import { randomUUID } from 'node:crypto';
import { type CloudEndpoint, headersFor, urlOf } from '../../cli/endpoints.ts';
import { askWith, type Context } from '../context/context.ts';
import { type Patience, patiently } from '../stack/patience.ts';

const REQUEST_TIMEOUT_MS = 60_000;
/** Stays in the store, empty, so that the next smoke test need not create it. */
const TABLE = 'stowage-smoke';

/** Throws a DeployError with the last answer. */
export async function smoke(context: Context, endpoint: CloudEndpoint, patience: Patience = {}): Promise<void> {
  const failed = `${endpoint.cloud}: deployed, but it does not work`;
  await patiently(context, failed, () => once(context, endpoint), patience);
  context.log(`${endpoint.cloud}: healthy, and a record came back as it was written`);
}

async function once({ run }: Context, endpoint: CloudEndpoint): Promise<void> {
  const ask = askWith(run);
  for (const name of Object.keys(endpoint.urls)) {
    const headers = await headersFor(endpoint, name, 'admin', ask);
    await request(`${urlOf(endpoint, name)}/v1/health`, { headers });
  }
  const headers = { ...(await headersFor(endpoint, 'records', 'admin', ask)), 'Content-Type': 'application/json' };
  const table = `${urlOf(endpoint, 'records')}/v1/tables/${TABLE}`;
  const text = JSON.stringify(randomUUID());
  await request(table, { method: 'PUT', headers, body: '{}' });
  await request(`${table}/records/smoke`, { method: 'PUT', headers, body: text });
  const answer = await request(`${table}/records/smoke`, { headers: { ...headers, Accept: 'application/json' } });
  if (answer !== text) throw new Error(`the record came back as ${answer}`);
  await request(`${table}/records/smoke`, { method: 'DELETE', headers });
}

async function request(url: string, init: RequestInit): Promise<string> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${url} answered ${response.status} ${text.slice(0, 300)}`);
  return text;
}
