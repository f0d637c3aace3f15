// What Azure's platform gives an instance: settings, and a token by one GET, without an SDK.
// https://learn.microsoft.com/azure/app-service/reference-app-settings
// https://learn.microsoft.com/azure/app-service/overview-managed-identity
import { randomUUID } from 'node:crypto';
import type { TokenCredential } from '@azure/core-auth';
import * as z from 'zod/mini';
import type { PlatformFacts } from '../compare/where-it-runs.ts';
import { ConfigError } from '../instance/config.ts';

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

/** IDENTITY_ENDPOINT, IDENTITY_HEADER, and the `clientId` of a user-assigned identity. */
export interface IdentityEndpoint {
  readonly endpoint: string | undefined;
  readonly secret: string | undefined;
  readonly clientId: string | undefined;
}

const TOKEN_TIMEOUT_MS = 10_000;

const TOKEN = z.object({ access_token: z.string(), expires_on: z.coerce.number() });

/** Throws a ConfigError if the platform offers no identity. */
export function managedIdentity({ endpoint, secret, clientId }: IdentityEndpoint): TokenCredential {
  if (endpoint === undefined || secret === undefined)
    throw new ConfigError('give the function a managed identity, or set STOWAGE_TABLES_ACCOUNT and STOWAGE_TABLES_KEY');
  return {
    async getToken(scopes) {
      const url = new URL(endpoint);
      url.searchParams.set('api-version', '2019-08-01');
      url.searchParams.set('resource', [scopes].flat()[0]!.replace(/\/\.default$/, ''));
      if (clientId !== undefined) url.searchParams.set('client_id', clientId);
      const response = await fetch(url, {
        headers: { 'X-IDENTITY-HEADER': secret },
        redirect: 'error',
        signal: AbortSignal.timeout(TOKEN_TIMEOUT_MS),
      });
      if (!response.ok)
        throw new Error(`the managed identity endpoint answered ${response.status}: is the identity assigned?`);
      const token = TOKEN.parse(await response.json());
      return { token: token.access_token, expiresOnTimestamp: token.expires_on * 1_000 };
    },
  };
}
