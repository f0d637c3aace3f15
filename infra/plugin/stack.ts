// One cloud of one stage: its side, the account it is deployed with, its Terraform. Every command begins by opening the stacks it is for.
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AskTool, CloudEndpoint } from '../../functions/endpoints.ts';
import { azure } from './clouds/azure.ts';
import type { Account, CloudSide } from './clouds/cloud.ts';
import { gcp } from './clouds/gcp.ts';
import { prerequisites } from './prerequisites.ts';
import type { Settings } from './settings.ts';
import type { AppKeys } from './terraform.ts';
import { Terraform } from './terraform.ts';
import type { Run } from './tools.ts';
import { outputOf } from './tools.ts';

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

/** 32 characters of base64: 192 bits. */
const KEY_BYTES = 24;

/** Checks all prerequisites first; throws a DeployError with everything that is missing. */
export async function openStacks({ settings, run, log }: Context): Promise<Stack[]> {
  const sides = settings.clouds.map((cloud) => SIDES[cloud]);
  const { terraform, accounts } = await prerequisites(run, settings, sides);
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

/** The stack's functions as they are deployed now; undefined if they are not. */
export async function endpointOf({ side, account, terraform }: Stack): Promise<CloudEndpoint | undefined> {
  return side.endpoint(await terraform.outputs(), account);
}

/** A new key for each role. Terraform takes them only where there are none, or when the version of the keys changes. */
export function newKeys(): AppKeys {
  return { read: newKey(), write: newKey(), admin: newKey() };
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** The version of the keys that is in use; 1 before the first deployment. */
export async function keysVersionOf({ terraform }: Stack): Promise<number> {
  const version = (await terraform.outputs())['keys_version'];
  return typeof version === 'number' ? version : 1;
}

/** gcloud and az with the user's own login. */
export function askWith(run: Run): AskTool {
  return (tool, args) => outputOf(run, tool, args);
}

/** Writes where the functions are, without any secret, for `compare` and for other machines. Gives the file. */
export async function writeEndpoints(settings: Settings, endpoints: readonly CloudEndpoint[]): Promise<string> {
  await mkdir(settings.outDir, { recursive: true });
  const file = endpointsFile(settings);
  await writeFile(file, `${JSON.stringify({ stage: settings.stage, endpoints }, undefined, 2)}\n`);
  return file;
}

export function endpointsFile({ outDir, stage }: Settings): string {
  return path.join(outDir, `endpoints-${stage}.json`);
}
