// Gets a token by one GET, without an SDK; callers keep it.
// https://learn.microsoft.com/azure/app-service/overview-managed-identity
import type { TokenCredential } from '@azure/core-auth';
import * as z from 'zod/mini';
import { ConfigError } from '../instance/config.ts';

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
