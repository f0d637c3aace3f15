// Proves a cloud before its comparison: writes one record and reads it back, byte for byte.
import type { RunningCloud } from './clouds.ts';

export interface Proof {
  readonly sizeBytes: number;
  readonly durationMs: number;
}

const REQUEST_TIMEOUT_MS = 30_000;
const TABLE = 'greetings';

/** Throws if a request fails, or if the record comes back changed. Three round trips. */
export async function proveRecord(cloud: RunningCloud, signal: AbortSignal): Promise<Proof> {
  const text = JSON.stringify({ name: 'Zoë Müller-Østby', visits: 3, since: new Date().toISOString() });
  const startedMs = performance.now();
  await send(cloud, signal, { method: 'PUT', path: `/v1/tables/${TABLE}`, body: '{}' });
  const path = `/v1/tables/${TABLE}/records/${encodeURIComponent('customer/Zoë 1')}`;
  await send(cloud, signal, { method: 'PUT', path, body: text });
  const answer = await send(cloud, signal, { method: 'GET', path });
  if (answer !== text) throw new Error(`${cloud.name} returned ${answer} for ${text}`);
  return { sizeBytes: Buffer.byteLength(text), durationMs: Math.round(performance.now() - startedMs) };
}

interface JsonRequest {
  readonly method: 'GET' | 'PUT';
  readonly path: string;
  readonly body?: string;
}

/** The text of the answer. Throws, with that text, if the status is an error. */
async function send(cloud: RunningCloud, signal: AbortSignal, { method, path, body }: JsonRequest): Promise<string> {
  const response = await fetch(`${cloud.recordsUrl}${path}`, {
    method,
    headers: {
      ...cloud.headers('records'),
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return text;
}
