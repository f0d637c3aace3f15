// `serverless deploy`: checks, packages, plans; refuses to delete data, asks before it deletes
// functions; applies, uploads, tries out. After an interruption the same command goes on.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import { type Context, patiently } from '../context/deploy-context.ts';
import { DeployError, type Settings } from '../context/deploy-settings.ts';
import { openStacks, presentOf, REPEAT_AFTER_MS, retriesOn, type Stack, variablesOf } from '../stack/stack.ts';
import type { Planned } from '../stack/terraform.ts';
import { agreeToLosses, dataLosses, refuseDataLoss } from './agree.ts';
import { infoText, writeEndpoints } from './info.ts';
import { deleteAll } from './remove.ts';
import { smoke } from './smoke.ts';

export interface DeployOptions {
  /** Runs once nothing else is missing. Default: the packages are there. */
  readonly pack?: () => Promise<void>;
  /** Stop after showing the plans. */
  readonly isPlanOnly: boolean;
  /** Allows a changed setting to delete data. Default: such a plan is refused. */
  readonly isDataDeleted?: boolean;
  /** Does not ask before functions are taken away. */
  readonly isConfirmed?: boolean;
}

interface StackPlan {
  readonly stack: Stack;
  readonly planned: Planned;
}

/** Throws a DeployError that says which clouds are done and which are not. */
export async function deploy(context: Context, options: DeployOptions): Promise<void> {
  const { settings, log } = context;
  const stacks = await openStacks(context);
  await options.pack?.();
  const plans: StackPlan[] = [];
  for (const stack of stacks) plans.push({ stack, planned: await planOf(stack, context) });
  if (options.isDataDeleted !== true) for (const { stack, planned } of plans) refuseDataLoss(stack, planned);
  if (options.isPlanOnly) {
    log('This is the plan; nothing was touched.');
    return;
  }
  await agreeToLosses(context, plans, options.isConfirmed === true);
  const endpoints: CloudEndpoint[] = [];
  for (const plan of plans) {
    try {
      endpoints.push(await deployOne(plan, context));
    } catch (error) {
      throw new DeployError(`${messageOf(error)}\n${progressText(settings, stacks, endpoints)}`, { cause: error });
    }
  }
  const file = await writeEndpoints(settings, endpoints);
  log(await infoText(context, endpoints));
  log(`Wrote ${file ?? 'nothing'}. Next: npx serverless compare --stage ${settings.stage}`);
}

async function planOf(stack: Stack, context: Context): Promise<Planned> {
  context.log(`\n${stack.side.cloud}: plan`);
  const variables = variablesOf(stack, context.settings, await presentOf(stack));
  return await stack.terraform.plan(variables);
}

async function deployOne({ stack, planned }: StackPlan, context: Context): Promise<CloudEndpoint> {
  const { side } = stack;
  let next: Planned | undefined = planned;
  if (dataLosses(stack, planned).length > 0) {
    context.log(`\n${side.cloud}: delete`);
    await deleteAll(context, stack);
    next = undefined;
  }
  context.log(`\n${side.cloud}: apply`);
  const apply = async (): Promise<void> => {
    const plan = next ?? (await planOf(stack, context));
    // The first plan was agreed to. After a failure, what is left of it is planned again.
    if (next === undefined) refuseDataLoss(stack, plan);
    next = undefined;
    await stack.terraform.apply(plan);
  };
  await patiently(context, `${side.cloud}: applied again, in vain`, apply, {
    ...retriesOn(side),
    patienceMs: 3 * REPEAT_AFTER_MS,
  });
  const { endpoint } = await presentOf(stack);
  if (endpoint === undefined) throw new DeployError(`${side.cloud}: Terraform gave out no functions`);
  const settle = (): Promise<void> => side.settle(context, endpoint);
  await patiently(context, `${side.cloud}: the functions do not get what they need`, settle);
  await smoke(context, endpoint);
  return endpoint;
}

function progressText({ stage }: Settings, stacks: readonly Stack[], done: readonly CloudEndpoint[]): string {
  const at = done.length;
  const list = stacks.map(
    ({ side }, index) => `${side.cloud}: ${index < at ? 'deployed' : index === at ? 'begun' : 'not begun'}`,
  );
  return `${list.join('; ')}. Once that is mended, the same command goes on from here:\n  npx serverless deploy --stage ${stage}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
