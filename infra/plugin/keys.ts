// `serverless keys`: app keys change in two steps, without a moment in which a caller's key is refused. `--add` puts a new key of each role
// before the present one: both are valid, callers change over. `--retire` takes the older one away.
import { appKeysOf } from '../../functions/endpoints.ts';
import type { CloudEndpoint, KeyRole } from '../../functions/endpoints.ts';
import { DeployError } from './settings.ts';
import { smoke } from './smoke.ts';
import type { SmokeOptions } from './smoke.ts';
import type { Context, Stack } from './stack.ts';
import { askWith, endpointOf, keysVersionOf, newKeys, openStacks, writeEndpoints } from './stack.ts';
import type { AppKeys } from './terraform.ts';

export interface KeysOptions extends SmokeOptions {
  readonly step: 'show' | 'add' | 'retire';
}

const ROLES = ['read', 'write', 'admin'] as const;

/** Throws a DeployError if a cloud has no functions, or if `--add` meets keys that are being changed already. */
export async function changeKeys(context: Context, { step, ...options }: KeysOptions): Promise<void> {
  const endpoints: CloudEndpoint[] = [];
  for (const stack of await openStacks(context)) {
    const endpoint = await endpointOf(stack);
    if (endpoint === undefined) throw new DeployError(`${stack.side.cloud}: no functions are deployed`);
    const present = await presentKeys(context, endpoint);
    context.log(`${stack.side.cloud}: ${ROLES.map((role) => `${role} ${present[role].length}`).join(', ')} valid`);
    if (step !== 'show') endpoints.push(await replace(stack, context, next(present, step), options));
  }
  if (endpoints.length > 0) await writeEndpoints(context.settings, endpoints);
}

type Present = Readonly<Record<KeyRole, readonly string[]>>;

async function presentKeys({ run }: Context, endpoint: CloudEndpoint): Promise<Present> {
  const ask = askWith(run);
  const [read, write, admin] = await Promise.all(ROLES.map((role) => appKeysOf(endpoint, role, ask)));
  return { read: read!, write: write!, admin: admin! };
}

function next(present: Present, step: 'add' | 'retire'): AppKeys {
  const fresh = newKeys();
  const one = (role: KeyRole): string => {
    const [newest, ...older] = present[role];
    if (step === 'retire') return newest!;
    if (older.length > 0) throw new DeployError('two keys are valid already: `--retire` the older ones first');
    return `${fresh[role]},${newest!}`;
  };
  return { read: one('read'), write: one('write'), admin: one('admin') };
}

async function replace(stack: Stack, context: Context, keys: AppKeys, options: SmokeOptions): Promise<CloudEndpoint> {
  const { side, account, terraform } = stack;
  const version = (await keysVersionOf(stack)) + 1;
  const variables = { ...side.variables(context.settings, account), keys_version: version };
  await terraform.apply(await terraform.plan(variables, keys));
  const endpoint = await endpointOf(stack);
  if (endpoint === undefined) throw new DeployError(`${side.cloud}: Terraform gave out no functions`);
  await smoke(context, endpoint, options);
  return endpoint;
}
