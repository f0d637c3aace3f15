// One cloud of one stage: its side, the account it is deployed with, its Terraform. Every command begins by opening the stacks it is for.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type AskTool, type CloudEndpoint, endpointsSchema } from '../../cli/endpoints.ts';
import { azure } from '../clouds/azure.ts';
import type { Account, CloudSide } from '../clouds/cloud.ts';
import { gcp } from '../clouds/gcp.ts';
import type { Settings } from '../context/settings.ts';
import { outputOf, type Run } from '../context/tools.ts';
import { prerequisites } from './prerequisites.ts';
import { Terraform } from './terraform.ts';

/** What every command works with. */
export interface Context {
  readonly settings: Settings;
  readonly run: Run;
  /** For people. */
  readonly log: (line: string) => void;
}

export interface Stack {
  readonly side: CloudSide;
  readonly account: Account;
  readonly terraform: Terraform;
}

const SIDES = { gcp, azure } as const;

export interface OpenOptions {
  /** Does what is missing, where one free command does it. Default: only says so. */
  readonly isMending?: boolean;
}

/** Checks all prerequisites first; throws a DeployError with everything that is missing. */
export async function openStacks(context: Context, { isMending = false }: OpenOptions = {}): Promise<Stack[]> {
  const { settings, run, log } = context;
  const sides = settings.clouds.map((cloud) => SIDES[cloud]);
  const { terraform, accounts } = await prerequisites(context, sides, isMending);
  const stacks: Stack[] = [];
  for (const side of sides) {
    const account = accounts[side.cloud]!;
    log(`${side.cloud}: ${settings.service}-${settings.stage} in ${account.place}, as ${account.who}`);
    const stack = { side, account, terraform: new Terraform(run, terraform, side.cloud, settings) };
    await stack.terraform.open();
    stacks.push(stack);
  }
  return stacks;
}

/** What the last apply left. */
export interface Present {
  /** Undefined if there are no functions. */
  readonly endpoint: CloudEndpoint | undefined;
  /** 1 before the first deployment. */
  readonly keysVersion: number;
}

export async function presentOf({ side, account, terraform }: Stack): Promise<Present> {
  const outputs = await terraform.outputs();
  const version = outputs['keys_version'];
  return { endpoint: side.endpoint(outputs, account), keysVersion: typeof version === 'number' ? version : 1 };
}

/** gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

/**
 * Writes where the functions are, without any secret, for `compare` and for other machines. What the file says of a cloud that this command is
 * not for stays. Gives the file; undefined if there is nothing to say.
 */
export async function writeEndpoints(
  settings: Settings,
  endpoints: readonly CloudEndpoint[],
): Promise<string | undefined> {
  const file = endpointsFile(settings);
  const others = (await endpointsIn(file)).filter(({ cloud }) => !settings.clouds.includes(cloud));
  const all = [...endpoints, ...others];
  if (all.length === 0) {
    await rm(file, { force: true });
    return undefined;
  }
  await mkdir(settings.outDir, { recursive: true });
  await writeFile(file, `${JSON.stringify({ stage: settings.stage, endpoints: all }, undefined, 2)}\n`);
  return file;
}

/** None if the file is not there, or is not what it should be: it is about to be written. */
async function endpointsIn(file: string): Promise<readonly CloudEndpoint[]> {
  try {
    return endpointsSchema.parse(JSON.parse(await readFile(file, 'utf8'))).endpoints;
  } catch {
    return [];
  }
}

export function endpointsFile({ outDir, stage }: Settings): string {
  return path.join(outDir, `endpoints-${stage}.json`);
}
