// One cloud of one stage: its side, account and Terraform. Every command opens its stacks first.
import * as z from 'zod';
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import { azure } from '../clouds/azure-cloud.ts';
import { gcp } from '../clouds/gcp-cloud.ts';
import type { StateResource } from '../clouds/cloud.ts';
import type { Context } from '../context/deploy-context.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';
import { type Checked, prerequisites } from './prerequisites.ts';
import { Terraform } from './terraform.ts';

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
    const terraform = new Terraform(run, tool, side.cloud, settings);
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
