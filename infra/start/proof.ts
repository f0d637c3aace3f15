// Writes one real record through a running function and reads it back, byte for byte: what is compared afterwards works.
import type { RunningCloud } from './clouds.ts';

export interface Proof {
  readonly sizeBytes: number;
  readonly durationMs: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const TABLE = 'greetings';

/** Throws if anything is answered otherwise than it should be. */
export async function proveRecord(cloud: RunningCloud, signal: AbortSignal): Promise<Proof> {
  const text = JSON.stringify({ name: 'Zoë Müller-Østby', visits: 3, since: new Date().toISOString() });
  const startedMs = performance.now();
  await expectOk(await request(cloud, 'PUT', `/v1/tables/${TABLE}`, signal, '{}'));
  const record = `/v1/tables/${TABLE}/records/${encodeURIComponent('customer/Zoë 1')}`;
  await expectOk(await request(cloud, 'PUT', record, signal, text));
  const answer = await expectOk(await request(cloud, 'GET', record, signal));
  if (answer !== text) throw new Error(`${cloud.name} returned ${answer} for ${text}`);
  return { sizeBytes: Buffer.byteLength(text), durationMs: Math.round(performance.now() - startedMs) };
}

function request(
  cloud: RunningCloud,
  method: string,
  path: string,
  signal: AbortSignal,
  body?: string,
): Promise<Response> {
  return fetch(`${cloud.recordsUrl}${path}`, {
    method,
    headers: {
      ...cloud.headers,
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  });
}

async function expectOk(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return text;
}
