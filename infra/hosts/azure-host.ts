// Runs a package of Azure on this machine, in a stand-in for the Functions host.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type FunctionHost, type HostOptions, startHost } from './local-host.ts';

export interface AzureHostOptions extends HostOptions {
  /** For authLevel `function` and `admin`, in `x-functions-key`. Default: a random one. */
  readonly hostKey?: string;
}

export interface AzureHost extends FunctionHost {
  readonly hostKey: string;
}

const PROCESS = fileURLToPath(new URL('azure-process.ts', import.meta.url));

/** Starts all functions of the bundle and waits until they are healthy (at most 30 s). */
export async function startAzureHost({ bundleDir, env, port, hostKey }: AzureHostOptions): Promise<AzureHost> {
  const key = hostKey ?? randomBytes(24).toString('base64url');
  const childEnv = { ...env, AZURE_LOCAL_HOST_KEY: key };
  const host = await startHost('azure functions host', [PROCESS, bundleDir], childEnv, port);
  return { ...host, hostKey: key };
}
