// Checks all that a command needs before any change; reports everything missing, with fixes.
import type { Account, CloudSide, Missing } from '../clouds/cloud.ts';
import type { Context } from '../context/deploy-context.ts';
import { DeployError } from '../context/deploy-settings.ts';
import { firstOnPath, type Run } from '../context/cloud-tools.ts';

export interface Checked {
  readonly side: CloudSide;
  readonly account: Account;
}

/** Write-only attributes, and imports with for_each; tofu has them since the same number. */
const TERRAFORM_LEAST = [1, 11] as const;

/** Throws a DeployError that lists all that is missing. */
export async function prerequisites(
  { run, settings }: Context,
  sides: readonly CloudSide[],
): Promise<{ readonly tool: string; readonly clouds: readonly Checked[] }> {
  // A list per cloud, so that the order of the report does not depend on which tool answers first.
  const lists: Missing[][] = [[], ...sides.map(() => [])];
  const [tool, ...clouds] = await Promise.all([
    checkTerraform(run, lists[0]!),
    ...sides.map(async (side, at) => ({ side, account: await side.check(run, settings, lists[at + 1]!) })),
  ]);
  const missing = lists.flat().map(({ what, fix }) => `  - ${what}\n      ${fix}`);
  if (missing.length > 0) throw new DeployError(`Nothing was touched. This is missing:\n${missing.join('\n')}`);
  return { tool, clouds };
}

async function checkTerraform(run: Run, missing: Missing[]): Promise<string> {
  const fix = 'see https://developer.hashicorp.com/terraform/install or https://opentofu.org/docs/intro/install';
  const tool = await firstOnPath('terraform', 'tofu');
  const least = TERRAFORM_LEAST.join('.');
  if (tool === undefined) {
    missing.push({ what: `terraform or tofu, ${least} or newer`, fix });
    return '';
  }
  const { stdout } = await run(tool, ['version', '-json']);
  const [, major, minor] = /"terraform_version":\s*"(\d+)\.(\d+)/.exec(stdout) ?? [];
  const isOld =
    Number(major) < TERRAFORM_LEAST[0] || (Number(major) === TERRAFORM_LEAST[0] && Number(minor) < TERRAFORM_LEAST[1]);
  if (major === undefined || isOld)
    missing.push({ what: `${tool} ${least} or newer (this is ${major ?? '?'}.${minor ?? '?'})`, fix });
  return tool;
}
