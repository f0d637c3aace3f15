// Terraform's plan for infra/gcp and infra/azure as data, from sufficient variables and packages.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { type Cloud, type Ended, openSandbox, run, type Sandbox } from './terraform.ts';
import type { Computed } from './terraform-provider.ts';

export const KEYS = {
  read: 'secret-of-readers-0001',
  write: 'secret-of-writers-0001',
  admin: 'secret-of-admins-00001',
  compare: 'secret-of-comparisons-01',
};
export const INVOKER = 'user:somebody@example.com';

/** The variables that have no default. */
export const WANTED: Readonly<Record<Cloud, Record<string, unknown>>> = {
  gcp: { project: 'some-project', invokers: [INVOKER], keys: KEYS },
  azure: { subscription_id: '00000000-1111-2222-3333-444444444444', keys: KEYS },
};

/** One resource of a plan. */
export interface Change {
  readonly address: string;
  readonly type: string;
  readonly change: {
    readonly actions: string[];
    readonly after: Record<string, unknown> | null;
    /** True in the places of what only the apply will tell. */
    readonly after_unknown: Record<string, unknown>;
  };
}

const planned = new Map<string, Promise<readonly Change[]>>();

/**
 * The changes that these variables lead to, planned once a file. `folder` is another root module in
 * the cloud's folder.
 */
export function planOf(
  cloud: Cloud,
  variables: Readonly<Record<string, unknown>>,
  folder = '',
): Promise<readonly Change[]> {
  const asked = JSON.stringify([cloud, variables, folder]);
  if (!planned.has(asked)) planned.set(asked, plan(cloud, variables, folder));
  return planned.get(asked)!;
}

async function plan(
  cloud: Cloud,
  variables: Readonly<Record<string, unknown>>,
  folder: string,
): Promise<readonly Change[]> {
  const sandbox = await openSandbox(cloud, { ...WANTED[cloud], ...variables }, computed());
  try {
    await packagesFor(sandbox, cloud);
    const terraform = (...args: string[]): Promise<Ended> =>
      run('terraform', [`-chdir=${path.join(sandbox.dir, folder)}`, ...args], sandbox.env);
    for (const args of [['init'], ['validate'], ['plan', '-out=plan']])
      expectDone(await terraform(...args, '-no-color', ...(args[0] === 'validate' ? [] : ['-input=false'])));
    const { output } = await terraform('show', '-json', 'plan');
    return (JSON.parse(output) as { resource_changes: Change[] }).resource_changes;
  } finally {
    await sandbox.close();
  }
}

/** The planned resources of a type, as far as known. */
export function afterOf(changes: readonly Change[], type: string): Record<string, unknown>[] {
  return changes.filter((one) => one.type === type).map(({ change }) => change.after!);
}

/** Values that only the clouds can compute. */
export function computed(): Computed {
  let versions = 0;
  return (_, attribute) => (attribute === 'version' ? String(++versions) : undefined);
}

/** Expects success, and shows the output if there was none. */
export function expectDone({ code, output }: Ended): void {
  expect(code === 0 ? '' : output).toBe('');
}

/**
 * Zips where the configuration looks for them by default: ../../.serverless, seen from the sandbox.
 */
export async function packagesFor({ dir }: Sandbox, cloud: Cloud): Promise<void> {
  const folder = path.resolve(dir, '../../.serverless');
  await mkdir(folder, { recursive: true });
  for (const name of ['records', 'compare', 'vacuum']) await writeFile(path.join(folder, `${cloud}-${name}.zip`), name);
}
