// Checks all that a command needs before any change; reports everything missing, with fixes.
import type { Cloud } from '../../package/bundle.ts';
import type { Account, CloudSide, Missing } from '../clouds/cloud.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { firstOnPath, lastLines, type Run } from '../context/tools.ts';

export interface Ready {
  /** `terraform` or `tofu`. */
  readonly terraform: string;
  readonly accounts: Readonly<Partial<Record<Cloud, Account>>>;
  /** Problems to mend before an apply. */
  readonly unready: Readonly<Partial<Record<Cloud, readonly Missing[]>>>;
}

/** Write-only attributes and ephemeral variables; tofu has them since the same number. */
const TERRAFORM_LEAST = [1, 11] as const;
/** Azure registers a resource provider in some minutes. */
const MEND_TIMEOUT_MS = 10 * 60_000;

/** Throws a DeployError that lists all that is missing, and that it does not mend itself. */
export async function prerequisites(
  { run, settings, log }: Context,
  sides: readonly CloudSide[],
  isMending: boolean,
): Promise<Ready> {
  // A list for each cloud keeps the report's order, however fast the tools answer.
  const ofTerraform: Missing[] = [];
  const ofSides: Missing[][] = sides.map(() => []);
  const [terraform, ...accounts] = await Promise.all([
    checkTerraform(run, ofTerraform),
    ...sides.map(async (side, at) => [side.cloud, await side.check(run, settings, ofSides[at]!)] as const),
  ]);
  const missing = [...ofTerraform, ...ofSides.flat()].filter(({ isForApply }) => isForApply !== true);
  if (missing.some(({ mend }) => !isMending || mend === undefined)) {
    const list = missing.map(({ what, fix }) => `  - ${what}\n      ${fix}`).join('\n');
    throw new DeployError(`Nothing was touched. This is missing:\n${list}`);
  }
  await mendAll({ run, log }, missing);
  const unready = sides.map(({ cloud }, at) => [cloud, ofSides[at]!.filter(({ isForApply }) => isForApply === true)]);
  return { terraform, accounts: Object.fromEntries(accounts), unready: Object.fromEntries(unready) };
}

/** One fix after the other. Throws a DeployError with the command for who may run it. */
export async function mendAll({ run, log }: Pick<Context, 'run' | 'log'>, missing: readonly Missing[]): Promise<void> {
  for (const { what, fix, mend } of missing) {
    log(fix);
    const [tool, ...args] = mend!;
    const { code, stdout, stderr } = await run(tool, args, { timeoutMs: MEND_TIMEOUT_MS });
    if (code === 0) continue;
    throw new DeployError(
      `${what}: missing, and your login could not mend it: ${lastLines(stderr || stdout)}\nSomebody who may has to give this command once, then yours goes on:\n  ${fix}`,
    );
  }
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
