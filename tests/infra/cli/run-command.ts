// A command of the project in a process of its own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inject, onTestFinished } from 'vitest';
import { AZURITE_ACCOUNT_KEY, startAzurite } from '../../../infra/emulators/azurite.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const STOWAGE = fileURLToPath(new URL('../../../infra/cli/main.ts', import.meta.url));
const TIMEOUT_MS = 100_000;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node.js with these arguments to its end, in the project's folder unless told otherwise. */
export function runCommand(
  args: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: TIMEOUT_MS };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** The environment of commands on the embedded Datastore. */
export function onDatastore(): Record<string, string> {
  return { DATASTORE_EMULATOR_HOST: new URL(inject('embeddedEndpoint')).host };
}

/** The same, with an Azurite until the test ends. */
export async function onBothClouds(): Promise<Record<string, string>> {
  const azurite = await startAzurite({ inProcess: true });
  onTestFinished(() => azurite.close());
  return { ...onDatastore(), STOWAGE_TABLES_ENDPOINT: azurite.endpoint, STOWAGE_TABLES_KEY: AZURITE_ACCOUNT_KEY };
}
