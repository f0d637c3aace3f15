// `serverless remove`: takes down the functions, and only with --delete-data the data. The cloud's
// own tool lifts the data's protection, because Terraform would apply all other changes too.
import { type Context, patiently } from '../context/deploy-context.ts';
import { openStacks, presentOf, retriesOn, type Stack, variablesOf } from '../stack/stack.ts';
import { confirm, refuseDataLoss } from './agree.ts';
import { writeEndpoints } from './info.ts';

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

/** Deletes a stage of one cloud with its data. Throws a DeployError if something is left. */
export async function deleteAll(context: Context, { side, account, terraform }: Stack): Promise<void> {
  // Without the functions nothing has to be packaged.
  const variables = { ...side.variables(context.settings, account, []), functions: {}, allow_data_deletion: true };
  await side.unprotect(context.run, await terraform.resources());
  const destroy = (): Promise<void> => terraform.destroy(variables);
  await patiently(context, `${side.cloud}: something is left`, destroy, retriesOn(side));
}
