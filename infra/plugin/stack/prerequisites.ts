// Checks all that a command needs before any change; reports everything missing, with fixes.
import type { Account, CloudSide, Missing } from '../clouds/cloud.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { firstOnPath, lastLines, type Run } from '../context/tools.ts';

/** A cloud whose tools answered. */
export interface Checked {
  readonly side: CloudSide;
  readonly account: Account;
  /** Problems for an apply, not for a plan; their fixes are commands. */
  readonly unready: readonly Missing[];
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
): Promise<{ readonly tool: string; readonly clouds: readonly Checked[] }> {
  const ofTerraform: Missing[] = [];
  // A list for each cloud keeps the report's order, however fast the tools answer.
  const [tool, ...clouds] = await Promise.all([
    checkTerraform(run, ofTerraform),
    ...sides.map(async (side) => {
      const unready: Missing[] = [];
      return { side, account: await side.check(run, settings, unready), unready };
    }),
  ]);
  const missing = [...ofTerraform, ...clouds.flatMap(({ unready }) => unready)].filter((one) => !isForApply(one));
  if (missing.some(({ mend }) => !isMending || mend === undefined)) {
    const list = missing.map(({ what, fix }) => `  - ${what}\n      ${fix}`).join('\n');
    throw new DeployError(`Nothing was touched. This is missing:\n${list}`);
  }
  await mendAll({ run, log }, missing);
  return { tool, clouds: clouds.map((one) => ({ ...one, unready: one.unready.filter(isForApply) })) };
}

function isForApply({ isForApply: is }: Missing): boolean {
  return is === true;
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
