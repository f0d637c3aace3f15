// From a plan to working functions: applies, repeats failures of new roles, mends leftovers.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { type Patience, patiently } from './patience.ts';
import { mendAll } from './prerequisites.ts';
import { presentOf, type Stack } from './stack.ts';
import { type Planned, TerraformError } from './terraform.ts';

export interface BringUp extends Patience {
  readonly planned: Planned;
  /** Plans again, where the first plan was applied in part. */
  readonly replan: () => Promise<Planned>;
}

/** Google's provider waits this long in its example for a build account's roles. */
const REPEAT_AFTER_MS = 60_000;
/** Three repetitions. */
const REPEAT_FOR_MS = 3 * REPEAT_AFTER_MS;

/** The functions' addresses. Throws a DeployError. */
export async function bringUp(context: Context, stack: Stack, options: BringUp): Promise<CloudEndpoint> {
  const { side } = stack;
  await mendAll(context, stack.unready);
  await apply(context, stack, options);
  const { endpoint } = await presentOf(stack);
  if (endpoint === undefined) throw new DeployError(`${side.cloud}: Terraform gave out no functions`);
  const settle = (): Promise<void> => side.settle(context.run, endpoint);
  await patiently(context, `${side.cloud}: the functions do not get what they need`, settle, options);
  return endpoint;
}

async function apply(
  context: Context,
  { side, terraform }: Stack,
  { planned, replan, patienceMs = REPEAT_FOR_MS }: BringUp,
): Promise<void> {
  let next: Planned | undefined = planned;
  const attempt = async (): Promise<void> => {
    const plan: Planned = next ?? (await replan());
    next = undefined;
    await terraform.apply(plan);
  };
  await patiently(context, `${side.cloud}: applied again, in vain`, attempt, {
    patienceMs: Math.min(patienceMs, REPEAT_FOR_MS),
    pauseMs: REPEAT_AFTER_MS,
    isPassing: (error) => error instanceof TerraformError && side.isPassing(error.said),
  });
}
