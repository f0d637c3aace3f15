// What Google's platform tells a function, and is told: metadata, log lines, the scheduler's token.
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { PlatformFacts } from '../compare/where-it-runs.ts';
import type { LogLine } from '../http/log.ts';

const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/';
const TIMEOUT_MS = 2_000;

/** `K_SERVICE` is Cloud Run's; `STOWAGE_BACKEND` names an emulator. Two requests for metadata. */
export async function googleFacts(env: Readonly<Record<string, string | undefined>>): Promise<PlatformFacts> {
  const isEmulator = emulatorIn(env) !== undefined;
  const isCloud = env['K_SERVICE'] !== undefined && !isEmulator;
  const [region, id] = isCloud ? await Promise.all([metadata('region'), metadata('id')]) : [null, null];
  return {
    provider: 'datastore',
    platform: isCloud ? 'google-cloud-run' : 'local',
    backend: env['STOWAGE_BACKEND'] ?? (isEmulator ? 'an emulator of Datastore' : 'Google Cloud Datastore'),
    isEmulator,
    // `projects/123/regions/europe-west1`.
    region: region?.split('/').at(-1) ?? null,
    instanceId: id ?? randomUUID(),
    memoryBytes: null,
  };
}

/** Null without an answer, as a report without a region is better than none. */
async function metadata(name: string): Promise<string | null> {
  try {
    const response = await fetch(METADATA + name, {
      headers: { 'Metadata-Flavor': 'Google' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? (await response.text()).trim() : null;
  } catch {
    return null;
  }
}

/** The address of the Datastore emulator that the environment names, if it names one. */
export function emulatorIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const host = env['DATASTORE_EMULATOR_HOST'] ?? '';
  if (host === '') return undefined;
  return /^https?:\/\//i.test(host) ? host : `http://${host}`;
}

/** The line as Cloud Logging reads it. The request has no URL there, as that holds keys. */
export function cloudLogging({ stack, ...line }: LogLine, project: string): object {
  const { method, status, durationMs, traceparent } = line;
  const [, trace, spanId, flags] = traceparent?.split('-') ?? [];
  return {
    ...line,
    httpRequest: { requestMethod: method, status, latency: `${durationMs / 1_000}s` },
    ...(stack === undefined ? {} : { stack_trace: stack }),
    ...(trace === undefined
      ? {}
      : {
          'logging.googleapis.com/trace': `projects/${project}/traces/${trace}`,
          'logging.googleapis.com/spanId': spanId,
          'logging.googleapis.com/trace_sampled': flags?.endsWith('1') === true,
        }),
  };
}

const CLAIMS = z.object({ email: z.string(), email_verified: z.literal(true) });

/** False beside `X-Serverless-Authorization`, because the gate then checks only that token. */
export function isFromAccount(request: Request, account: string): boolean {
  if (request.headers.has('X-Serverless-Authorization')) return false;
  const payload = /^Bearer +[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
  if (payload === undefined) return false;
  try {
    return CLAIMS.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())).email === account;
  } catch {
    // It is no token but perhaps an app key that looks like one.
    return false;
  }
}
