// The real Terraform in its own folder, with stand-ins for the providers. Without Terraform its
// tests are skipped, in one visible line.
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ProviderSchema } from '../schemas/schema.ts';
import { type Cloud as KeepingCloud, type Computed, startStandInProvider } from './terraform-provider.ts';

export const INFRA = fileURLToPath(new URL('../../../../infra/', import.meta.url));

export const CLOUDS = { gcp: 'google', azure: 'azurerm' } as const;
export type Cloud = keyof typeof CLOUDS;

const TIMEOUT_MS = 60_000;
const VERSION_LEAST = [1, 11] as const;

export const hasTerraform = isInstalled();
if (!hasTerraform) console.warn('SKIPPED: what needs Terraform 1.11 or newer, which is not installed');

export interface Ended {
  readonly code: number;
  readonly output: string;
}

export type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

export async function schemaOf(cloud: Cloud): Promise<ProviderSchema> {
  const file = new URL(`../schemas/${CLOUDS[cloud]}.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as ProviderSchema;
}

/**
 * `variables` become TF_VAR_ variables; initialises the folder. Applied resources go to `keeping`,
 * a test's cloud.
 */
export async function openSandbox(
  cloud: Cloud,
  variables: Readonly<Record<string, unknown>>,
  computed: Computed = () => undefined,
  keeping?: KeepingCloud,
) {
  const base = await mkdtemp(path.join(tmpdir(), `stowage-${cloud}-`));
  const dir = path.join(base, 'infra', cloud);
  await cp(path.join(INFRA, cloud), dir, { recursive: true, filter: isSource });
  const provider = await startStandInProvider(await schemaOf(cloud), computed, keeping);
  const given = Object.entries(variables).map(([name, value]) => [
    `TF_VAR_${name}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const env = {
    PATH: process.env['PATH'],
    HOME: base,
    TF_IN_AUTOMATION: '1',
    CHECKPOINT_DISABLE: '1',
    // A run lasts a second, and its garbage may wait: collecting it takes a third of Terraform's
    // processor time.
    GOGC: '400',
    TF_REATTACH_PROVIDERS: JSON.stringify(provider.reattach),
    ...Object.fromEntries(given),
  };
  const sandbox = {
    provider,
    /** The copy of infra/<cloud>, with its state. */
    dir,
    env: env as NodeJS.ProcessEnv,
    /** Never throws for an exit code. */
    terraform: (...args: string[]) => run('terraform', [`-chdir=${dir}`, ...args], env),
    async close() {
      await provider.close();
      await rm(base, { recursive: true, force: true });
    },
  };
  const { code, output } = await sandbox.terraform('init', '-input=false', '-no-color');
  if (code !== 0) throw new Error(output);
  return sandbox;
}

function isSource(file: string): boolean {
  return !/\.terraform|tfstate/.test(path.basename(file));
}

export async function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      env,
      timeout: TIMEOUT_MS,
      maxBuffer: 2 ** 26,
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    return { code: typeof code === 'number' ? code : -1, output: `${stdout ?? ''}${stderr ?? String(error)}` };
  }
}

function isInstalled(): boolean {
  const { stdout } = spawnSync('terraform', ['version', '-json'], { encoding: 'utf8', timeout: TIMEOUT_MS });
  const found = /"terraform_version": "(\d+)\.(\d+)/.exec(stdout ?? '');
  if (found === null) return false;
  const [major, minor] = [Number(found[1]), Number(found[2])];
  return major > VERSION_LEAST[0] || (major === VERSION_LEAST[0] && minor >= VERSION_LEAST[1]);
}
