// `serverless remove`: takes down what serves, and keeps the data, in the cloud and in Terraform's state, so that a deployment finds it
// again. Only --delete-data deletes it, after lifting its protection.
import { createInterface } from 'node:readline/promises';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { newKeys } from '../stack/app-keys.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import { openStacks, presentOf, type Stack } from '../stack/stack.ts';

export interface RemoveOptions {
  readonly isDataDeleted: boolean;
  /** Does not ask. */
  readonly isConfirmed: boolean;
}

/** Throws a DeployError if the user does not agree, or if something is left. */
export async function remove(context: Context, options: RemoveOptions): Promise<void> {
  const { settings, log } = context;
  const stacks = await openStacks(context);
  const name = `${settings.service}-${settings.stage}`;
  log(
    options.isDataDeleted
      ? `This takes down ${name} on ${settings.clouds.join(' and ')}, and DELETES ITS DATA. It cannot be undone.`
      : `This takes down the functions of ${name} on ${settings.clouds.join(' and ')}. The data is kept.`,
  );
  if (!options.isConfirmed) await confirm(name);
  for (const stack of stacks) {
    await takeDown(stack, context, options);
    log(
      `${stack.side.cloud}: ${options.isDataDeleted ? 'everything is gone' : 'the functions are gone, the data is there'}`,
    );
  }
  await writeEndpoints(settings, []);
}

async function takeDown(stack: Stack, { settings }: Context, { isDataDeleted }: RemoveOptions): Promise<void> {
  const { side, account, terraform } = stack;
  const variables = {
    ...side.variables(settings, account),
    keys_version: (await presentOf(stack)).keysVersion,
    data_only: true,
    allow_data_deletion: isDataDeleted,
  };
  const keys = newKeys();
  await terraform.apply(await terraform.plan(variables, keys));
  // Two steps: the cloud deletes the data only after its protection was lifted there.
  if (isDataDeleted) await terraform.destroy(variables, keys);
}

async function confirm(name: string): Promise<void> {
  if (!process.stdin.isTTY) throw new DeployError('nobody is there to ask: --yes agrees beforehand');
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`Type ${name} to agree: `);
    if (answer.trim() !== name) throw new DeployError('nothing was touched');
  } finally {
    terminal.close();
  }
}
