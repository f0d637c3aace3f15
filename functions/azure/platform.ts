// The settings of an instance: https://learn.microsoft.com/azure/app-service/reference-app-settings
import { randomUUID } from 'node:crypto';
import type { PlatformFacts } from '../compare/where-it-runs.ts';

const MIB = 1_048_576;

/** `WEBSITE_SITE_NAME` is set in function apps alone; `STOWAGE_BACKEND` names an emulator. */
export function azureFacts(env: Readonly<Record<string, string | undefined>>, tablesEndpoint: string): PlatformFacts {
  const isEmulator = new URL(tablesEndpoint).hostname === '127.0.0.1';
  const isCloud = env['WEBSITE_SITE_NAME'] !== undefined && !isEmulator;
  const id = env['CONTAINER_NAME'] ?? env['WEBSITE_INSTANCE_ID'];
  const memoryMib = Number(env['WEBSITE_MEMORY_LIMIT_MB'] ?? Number.NaN);
  return {
    provider: 'azure-tables',
    platform: isCloud ? 'azure-functions' : 'local',
    backend: env['STOWAGE_BACKEND'] ?? (isEmulator ? 'an emulator of Azure Table Storage' : 'Azure Table Storage'),
    isEmulator,
    region: isCloud ? (env['REGION_NAME'] ?? null) : null,
    instanceId: (isCloud ? id : undefined) ?? randomUUID(),
    memoryBytes: memoryMib > 0 ? memoryMib * MIB : null,
  };
}
