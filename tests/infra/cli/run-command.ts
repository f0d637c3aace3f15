// Commands of the project, in a process of their own or in this one.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import { inject, onTestFinished, vi } from 'vitest';
import { STORE_COMMANDS } from '../../../infra/cli/store-commands.ts';
import { AZURITE_ACCOUNT_KEY, startAzurite } from '../../../infra/emulators/azurite.ts';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const STOWAGE = fileURLToPath(new URL('../../../infra/cli/stowage.ts', import.meta.url));
const TIMEOUT_MS = 100_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

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

/**
 * Runs a command of `stowage` in this process: to start Node.js takes longer than what the command
 * does. Give it one at a time.
 */
export async function stowage(
  [name, ...args]: readonly string[],
  { cwd = ROOT, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const before = { cwd: process.cwd(), listeners: SIGNALS.map((signal) => process.listeners(signal)) };
  vi.spyOn(console, 'log').mockImplementation((...text) => void (said.stdout += `${format(...text)}\n`));
  vi.spyOn(console, 'error').mockImplementation((...text) => void (said.stderr += `${format(...text)}\n`));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((said.stdout += String(text)), true));
  for (const [variable, value] of Object.entries(env)) vi.stubEnv(variable, value);
  process.chdir(cwd);
  process.exitCode = 0;
  try {
    await STORE_COMMANDS[name!]!.run(args);
    return { code: process.exitCode, ...said };
  } finally {
    process.exitCode = 0;
    process.chdir(before.cwd);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    for (const [at, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!before.listeners[at]!.includes(listener)) process.off(signal, listener);
  }
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

/** Text that acts on a terminal. */
export const HOSTILE = '\u001b[2J a\nvictim \u009b2J \u202egnp.exe \u2028 \u007f\r';
