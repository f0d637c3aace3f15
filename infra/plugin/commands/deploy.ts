// `serverless deploy`: check, package, plan; refuse if data would go, ask if functions would;
// apply, upload, try out. After an interruption the same command goes on.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/context.ts';
import { DeployError, type Settings } from '../context/settings.ts';
import { bringUp } from '../stack/bring-up.ts';
import { keysToKeep, newKeys } from '../stack/app-keys.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import { type Patience, patiently } from '../stack/patience.ts';
import { openStacks, presentOf, type Stack, variablesOf } from '../stack/stack.ts';
import { deleteAll } from '../stack/take-down.ts';
import type { Planned } from '../stack/terraform.ts';
import { agreeToLosses, dataLosses, refuseDataLoss } from './agree.ts';
import { infoText } from './info.ts';
import { smoke } from './smoke.ts';

export interface DeployOptions extends Patience {
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
  const stacks = await openStacks(context, !options.isPlanOnly);
  await options.pack?.();
  const plans: StackPlan[] = [];
  for (const stack of stacks) plans.push({ stack, planned: await planOf(stack, context, options) });
  if (options.isDataDeleted !== true) for (const { stack, planned } of plans) refuseDataLoss(stack, planned);
  if (options.isPlanOnly) {
    for (const { fix } of stacks.flatMap(({ unready }) => unready)) log(`Before it is applied: ${fix}`);
    log('This is the plan; nothing was touched.');
    return;
  }
  await agreeToLosses(context, plans, options.isConfirmed === true);
  const endpoints: CloudEndpoint[] = [];
  for (const plan of plans) {
    try {
      endpoints.push(await deployOne(plan, context, options));
    } catch (error) {
      throw new DeployError(`${messageOf(error)}\n${progressText(settings, stacks, endpoints)}`, { cause: error });
    }
  }
  const file = await writeEndpoints(settings, endpoints);
  log(await infoText(context, endpoints));
  log(`Wrote ${file ?? 'nothing'}. Next: npx serverless compare --stage ${settings.stage}`);
}

async function planOf(stack: Stack, context: Context, { isPlanOnly }: DeployOptions): Promise<Planned> {
  const { side, terraform } = stack;
  context.log(`\n${side.cloud}: plan`);
  const present = await presentOf(stack);
  const variables = variablesOf(stack, context.settings, present);
  warnUnnamed(stack, context);
  // A plan alone needs no access to the secrets, which it does not show.
  const keys = isPlanOnly ? newKeys() : await keysToKeep(context, present.endpoint);
  return await terraform.plan(variables, keys);
}

/** A list of deployers without whoever deploys may be right: a group in it may hold them. */
function warnUnnamed({ side: { cloud }, account: { who, principal } }: Stack, { settings, log }: Context): void {
  const named = settings[cloud].deployers;
  if (named.length === 0 || principal === undefined || named.includes(principal)) return;
  log(
    `${cloud}: ${who} (${principal}) is not in provider.${cloud}.deployers: unless a group there holds you, your requests are refused`,
  );
}

async function deployOne(
  { stack, planned }: StackPlan,
  context: Context,
  options: DeployOptions,
): Promise<CloudEndpoint> {
  const { side } = stack;
  const replan = async (): Promise<Planned> => {
    const again = await planOf(stack, context, options);
    refuseDataLoss(stack, again);
    return again;
  };
  let plan = planned;
  if (dataLosses(stack, planned).length > 0) {
    context.log(`\n${side.cloud}: delete`);
    await deleteAll(context, stack);
    plan = await replan();
  }
  context.log(`\n${side.cloud}: apply`);
  const endpoint = await bringUp(context, stack, { ...options, planned: plan, replan });
  const upload = (): Promise<void> => side.upload(context.run, endpoint, context.settings);
  await patiently(context, `${side.cloud}: the upload failed`, upload, options);
  await smoke(context, endpoint, options);
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
