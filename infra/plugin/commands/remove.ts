// `serverless remove`: takes down the functions, and only with --delete-data the data.
import type { Context } from '../context/deploy-context.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import { openStacks, presentOf, type Stack, variablesOf } from '../stack/stack.ts';
import { deleteAll } from '../stack/take-down.ts';
import { confirm, refuseDataLoss } from './agree.ts';

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
  const where = settings.clouds.join(' and ');
  log(
    options.isDataDeleted
      ? `This takes down ${name} on ${where}, and DELETES ITS DATA. It cannot be undone.`
      : `This takes down the functions of ${name} on ${where}. The data is kept.`,
  );
  await confirm(context, options.isConfirmed, options.isDataDeleted ? stacks : []);
  for (const stack of stacks) {
    await (options.isDataDeleted ? deleteAll(context, stack) : takeDown(stack, context));
    const gone = options.isDataDeleted ? 'everything is gone' : 'the functions are gone, the data is there';
    log(`${stack.side.cloud}: ${gone}`);
  }
  await writeEndpoints(settings, []);
}

/** Takes the functions down, and leaves the data where it is. */
async function takeDown(stack: Stack, { settings }: Context): Promise<void> {
  const variables = { ...variablesOf(stack, settings, await presentOf(stack)), functions: {} };
  const planned = await stack.terraform.plan(variables);
  // The plan also applies whatever else has changed in serverless.yml.
  refuseDataLoss(stack, planned);
  await stack.terraform.apply(planned);
}
