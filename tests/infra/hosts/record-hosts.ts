// The packaged function `records` in both clouds' hosts, each on an emulator.
import { inject } from 'vitest';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../../infra/emulators/azurite.ts';
import { startAzureHost } from '../../../infra/hosts/azure-host.ts';
import { startGcpHost } from '../../../infra/hosts/gcp-host.ts';
import type { FunctionHost } from '../../../infra/hosts/local-host.ts';
import { folderOf, type UnpackedFunction } from '../../../infra/package/package.ts';
import { KEYS_ENV } from '../../functions/test-keys.ts';
import type { Send } from '../../functions/suite/http-client.ts';

/** Requests to a host, with what the platform's gate asks for. */
export function sendTo(host: FunctionHost, gate: Readonly<Record<string, string>> = {}): Send {
  return (target, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(gate)) headers.set(name, value);
    return fetch(host.url + target, { ...init, headers });
  };
}

/** The environment of Google's functions on the embedded emulator. */
export function gcpEnvironment(namespace: string) {
  return {
    ...KEYS_ENV,
    GOOGLE_CLOUD_PROJECT: 'stowage-test',
    STOWAGE_NAMESPACE: namespace,
    STOWAGE_CHECK: '1',
    DATASTORE_EMULATOR_HOST: inject('embeddedEndpoint').replace('http://', ''),
  };
}

/** The environment of Azure's functions on an Azurite of its own. */
export async function azureEnvironment() {
  const azurite = await startAzurite({ inProcess: true });
  const env = {
    ...KEYS_ENV,
    STOWAGE_TABLES_ENDPOINT: azurite.endpoint,
    STOWAGE_TABLES_ACCOUNT: AZURITE_ACCOUNT_NAME,
    STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY,
    STOWAGE_CHECK: '1',
  };
  return { azurite, env };
}

export async function startRecordHosts(packages: readonly UnpackedFunction[], namespace: string) {
  const { azurite, env } = await azureEnvironment();
  const [gcp, azure] = await Promise.all([
    startGcpHost({
      bundleDir: folderOf(packages, 'gcp', 'records'),
      target: 'records',
      env: gcpEnvironment(namespace),
    }),
    startAzureHost({ bundleDir: folderOf(packages, 'azure', 'records'), env }),
  ]);
  const close = async (): Promise<void> => {
    await Promise.all([gcp.close(), azure.close()]);
    await azurite.close();
  };
  return { gcp, azure, close };
}
