// The metadata of an instance: https://cloud.google.com/run/docs/container-contract#metadata-server
import { randomUUID } from 'node:crypto';
import type { PlatformFacts } from '../compare/where-it-runs.ts';
import { emulatorIn } from './emulator-address.ts';

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
