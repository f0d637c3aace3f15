// One cloud of one stage: its side, account and Terraform. Every command opens its stacks first,
// which reports everything that is missing, with fixes, before any change.
import * as z from 'zod';
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import { azure } from '../clouds/azure-cloud.ts';
import { gcp } from '../clouds/gcp-cloud.ts';
import type { Account, CloudSide, Missing, StateResource } from '../clouds/cloud.ts';
import { type Context, firstOnPath, type Retries, type Run } from '../context/deploy-context.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';
import { type Terraform, TerraformError, terraformOf } from './terraform.ts';

interface Checked {
  readonly side: CloudSide;
  readonly account: Account;
}

export interface Stack extends Checked {
  readonly terraform: Terraform;
}

const SIDES = { gcp, azure } as const;

/** Throws a DeployError about all that is missing, or about a state of another stage. */
export async function openStacks(context: Context): Promise<Stack[]> {
  const { settings, run, log } = context;
  const sides = settings.clouds.map((cloud) => SIDES[cloud]);
  const { tool, clouds } = await prerequisites(context, sides);
  const stacks: Stack[] = [];
  for (const one of clouds) {
    const { side, account } = one;
    log(`${side.cloud}: ${settings.service}-${settings.stage} in ${account.place}, as ${account.who}`);
    const terraform = terraformOf(run, tool, side.cloud, settings);
    await terraform.open();
    refuseOther(one, settings, await terraform.resources());
    stacks.push({ ...one, terraform });
  }
  return stacks;
}

// Throws a DeployError if the state holds another stage than the command names. Asks the resources,
// as a destruction takes the outputs away first.
function refuseOther(
  { side, account: { place } }: Checked,
  { service, stage }: Settings,
  present: readonly StateResource[],
): void {
  const name = `${service}-${stage}`;
  const origins = present.map((resource) => side.originOf(resource));
  const other = {
    place: origins.map((one) => one.place).find((one) => one !== undefined && one !== place),
    name: origins.map((one) => one.name).find((one) => one !== undefined && one !== name),
  };
  if (other.place === undefined && other.name === undefined) return;
  const there = { place: other.place ?? place, name: other.name ?? name };
  throw new DeployError(`${side.cloud}: the state of stage ${stage} holds ${there.name} in ${there.place}, and this command names ${name} in ${place}.
To work on what is there: ${side.placeVariable}=${there.place}, and \`service: ${there.name.slice(0, -stage.length - 1)}\` in serverless.yml.
To have another beside it: another --stage.`);
}

/** Google's provider waits so long for new roles; Azure's lock outlives its end by minutes. */
export const REPEAT_AFTER_MS = 60_000;

/** What a cloud refuses for some minutes is tried again. */
export function retriesOn(side: CloudSide): Retries {
  return {
    pauseMs: REPEAT_AFTER_MS,
    isPassing: (error) => error instanceof TerraformError && side.isPassing(error.said),
  };
}

/** The state after the last apply. */
export interface Present {
  /** Undefined if there are no functions. */
  readonly endpoint: CloudEndpoint | undefined;
  /** Everybody who has deployed so far. */
  readonly deployers: readonly string[];
}

export async function presentOf({ side, account, terraform }: Stack): Promise<Present> {
  const outputs = await terraform.outputs();
  const deployers = z.array(z.string()).catch([]).parse(outputs['deployers']);
  return { endpoint: side.endpoint(outputs, account), deployers };
}

/** Terraform's variables for the stage as it is to be. */
export function variablesOf({ side, account }: Stack, settings: Settings, present: Present): Record<string, unknown> {
  const named = settings[side.cloud].deployers;
  const own = account.principal === undefined ? [] : [account.principal];
  // While none is named, all who have deployed and the present one.
  const all = [...new Set([...present.deployers, ...own])].sort();
  return side.variables(settings, account, named.length > 0 ? named : all);
}

/** Write-only attributes, and imports with for_each; tofu has them since the same number. */
const TERRAFORM_LEAST = [1, 11] as const;

/** Throws a DeployError that lists all that is missing. */
async function prerequisites(
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
