// `serverless deploy`: plan both clouds and show the plans; then apply, upload, try out. Interrupted anywhere, or failed, the same command
// goes on from there: Terraform knows what exists, an upload replaces, the keys stay.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { keysToKeep, newKeys } from '../stack/app-keys.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import { type Patience, patiently } from '../stack/patience.ts';
import { openStacks, presentOf, type Stack } from '../stack/stack.ts';
import type { Planned } from '../stack/terraform.ts';
import { infoText } from './info.ts';
import { smoke } from './smoke.ts';

export interface DeployOptions extends Patience {
  /** Stop after showing the plans. */
  readonly isPlanOnly: boolean;
}

/** Throws a DeployError that says which clouds are done and which are not. */
export async function deploy(context: Context, options: DeployOptions): Promise<void> {
  const { settings, log } = context;
  const stacks = await openStacks(context, { isMending: !options.isPlanOnly });
  const planned: { readonly stack: Stack; readonly plan: Planned }[] = [];
  for (const stack of stacks) planned.push({ stack, plan: await planOf(stack, context, options) });
  if (options.isPlanOnly) {
    log('This is the plan; nothing was touched.');
    return;
  }
  const endpoints: CloudEndpoint[] = [];
  for (const { stack, plan } of planned) {
    try {
      endpoints.push(await bringUp(stack, plan, context, options));
    } catch (error) {
      throw new DeployError(`${messageOf(error)}\n${progressText(stacks, endpoints)}`, { cause: error });
    }
  }
  const file = await writeEndpoints(settings, endpoints);
  log(await infoText(context, endpoints));
  log(`Wrote ${file ?? 'nothing'}. Next: npx serverless compare --stage ${settings.stage}`);
}

async function planOf(stack: Stack, context: Context, { isPlanOnly }: DeployOptions): Promise<Planned> {
  const { side, account, terraform } = stack;
  context.log(`\n${side.cloud}: plan`);
  const { endpoint, keysVersion } = await presentOf(stack);
  const variables = { ...side.variables(context.settings, account), keys_version: keysVersion };
  // A plan alone needs no access to the secrets, which it does not show.
  const keys = isPlanOnly ? newKeys() : await keysToKeep(context, endpoint);
  return await terraform.plan(variables, keys);
}

async function bringUp(stack: Stack, plan: Planned, context: Context, options: Patience): Promise<CloudEndpoint> {
  const { side, terraform } = stack;
  context.log(`\n${side.cloud}: apply`);
  await terraform.apply(plan);
  const { endpoint } = await presentOf(stack);
  if (endpoint === undefined) throw new DeployError(`${side.cloud}: Terraform gave out no functions`);
  const upload = (): Promise<void> => side.upload(context.run, endpoint, context.settings);
  await patiently(context, `${side.cloud}: the upload failed`, upload, options);
  await smoke(context, endpoint, options);
  return endpoint;
}

function progressText(stacks: readonly Stack[], done: readonly CloudEndpoint[]): string {
  const at = done.length;
  const list = stacks.map(
    ({ side }, index) => `${side.cloud}: ${index < at ? 'deployed' : index === at ? 'begun' : 'not begun'}`,
  );
  return `${list.join('; ')}. The same command goes on from here.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
