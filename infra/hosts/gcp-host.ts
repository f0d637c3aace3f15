// Google on this machine: the real functions-framework, on the deployed package.
import { createRequire } from 'node:module';
import path from 'node:path';
import { type FunctionHost, type HostOptions, startHost } from './local-host.ts';

export interface GcpHostOptions extends HostOptions {
  /** The function to serve: one a process, as on the platform. */
  readonly target: 'records' | 'compare' | 'vacuum';
}

/** Keeps the banner out of the log, and Google's libraries from searching for a metadata server. */
const LOCAL = { NODE_ENV: 'production', METADATA_SERVER_DETECTION: 'none' };

/** Starts one function and waits until it is healthy (at most 30 s). */
export async function startGcpHost({ bundleDir, target, env, port }: GcpHostOptions): Promise<FunctionHost> {
  // The executable is in the folder of the one module that the package exports.
  const library = createRequire(import.meta.url).resolve('@google-cloud/functions-framework');
  const framework = path.join(path.dirname(library), 'main.js');
  const args = [framework, `--source=${bundleDir}`, `--target=${target}`, '--signature-type=http'];
  return await startHost(`functions-framework (${target})`, args, { ...LOCAL, ...env }, port);
}
