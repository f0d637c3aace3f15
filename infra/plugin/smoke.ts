// Whether what was deployed works: each function's health, and a record through `records`, with the credentials that callers have.
// New functions, roles and keys take a while to arrive, so what fails is tried again for some minutes.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudEndpoint } from '../../functions/endpoints.ts';
import { headersFor, urlOf } from '../../functions/endpoints.ts';
import { DeployError } from './settings.ts';
import type { Context } from './stack.ts';
import { askWith } from './stack.ts';

const REQUEST_TIMEOUT_MS = 60_000;
/** Roles on Azure take up to ten minutes, mostly one or two. */
const PATIENCE_MS = 10 * 60_000;
const PAUSE_MS = 10_000;
/** Left behind, empty, so that the next time need not create it. */
const TABLE = 'stowage-smoke';

export interface SmokeOptions {
  /** Default 10 minutes. */
  readonly patienceMs?: number;
}

/** Throws a DeployError that says what was answered last. */
export async function smoke(
  context: Context,
  endpoint: CloudEndpoint,
  { patienceMs = PATIENCE_MS }: SmokeOptions = {},
): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  for (let round = 1; ; round++) {
    try {
      await once(context, endpoint);
      context.log(`${endpoint.cloud}: healthy, and a record came back as it was written`);
      return;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (performance.now() + PAUSE_MS > deadlineMs) {
        throw new DeployError(`${endpoint.cloud}: deployed, but it does not work: ${message}`, { cause: error });
      }
      if (round === 1)
        context.log(`${endpoint.cloud}: not there yet (${message}); waiting for up to ${patienceMs / 60_000} minutes`);
      await sleep(PAUSE_MS);
    }
  }
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
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${url} answered ${response.status} ${text.slice(0, 300)}`);
  return text;
}
