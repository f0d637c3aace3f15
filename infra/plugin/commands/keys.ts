// `serverless keys`: `--add` puts a new key before each role's present one, callers change over,
// `--retire` removes the older. Run again, it leaves finished work alone.
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { type AppKeys, byRole, newKeys, presentKeys, type PresentKeys, ROLES } from '../stack/app-keys.ts';
import { bringUp } from '../stack/bring-up.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import type { Patience } from '../stack/patience.ts';
import { openStacks, type Present, presentOf, type Stack, variablesOf } from '../stack/stack.ts';
import type { Planned } from '../stack/terraform.ts';
import { agreeToLosses, refuseDataLoss } from './agree.ts';
import { smoke } from './smoke.ts';

export interface KeysOptions extends Patience {
  readonly step: 'show' | 'add' | 'retire';
  /** Does not ask before functions are taken away. */
  readonly isConfirmed?: boolean;
}

interface Keyed {
  readonly stack: Stack;
  readonly endpoint: CloudEndpoint;
  readonly state: Present;
  readonly present: PresentKeys;
}

/** Throws a DeployError if a cloud has no functions, or if every cloud is done already. */
export async function changeKeys(context: Context, { step, ...options }: KeysOptions): Promise<void> {
  const all: Keyed[] = [];
  for (const stack of await openStacks(context)) all.push(await keyed(stack, context));
  if (step === 'show') return;
  const isDone = ({ present }: Keyed): boolean => ROLES.every((role) => present[role].length === WANTED[step]);
  if (all.every(isDone)) throw new DeployError(DONE[step]);
  const endpoints: CloudEndpoint[] = [];
  for (const one of all)
    endpoints.push(isDone(one) ? one.endpoint : await replace(one, context, next(one.present, step), options));
  await writeEndpoints(context.settings, endpoints);
}

/** The number of a role's keys that are valid after a step. */
const WANTED = { add: 2, retire: 1 } as const;
const DONE = {
  add: 'two keys of each role are valid already: `--retire` the older ones first',
  retire: 'one key of each role is valid: there is none to retire',
} as const;

async function keyed(stack: Stack, context: Context): Promise<Keyed> {
  const { cloud } = stack.side;
  const state = await presentOf(stack);
  const { endpoint } = state;
  if (endpoint === undefined) throw new DeployError(`${cloud}: no functions are deployed`);
  const present = await presentKeys(context, endpoint);
  context.log(`${cloud}: ${ROLES.map((role) => `${role} ${present[role].length}`).join(', ')} valid`);
  return { stack, endpoint, state, present };
}

function next(present: PresentKeys, step: 'add' | 'retire'): AppKeys {
  const fresh = newKeys();
  return byRole((role) => {
    const [newest, ...older] = present[role];
    if (step === 'retire') return newest!;
    return older.length > 0 ? present[role].join(',') : `${fresh[role]},${newest!}`;
  });
}

async function replace(
  { stack, state }: Keyed,
  context: Context,
  keys: AppKeys,
  { isConfirmed = false, ...patience }: Omit<KeysOptions, 'step'>,
): Promise<CloudEndpoint> {
  const { terraform } = stack;
  const variables = variablesOf(stack, context.settings, { ...state, keysVersion: state.keysVersion + 1 });
  // A plan for new keys applies whatever else has changed in serverless.yml.
  const replan = async (): Promise<Planned> => {
    const again = await terraform.plan(variables, keys);
    refuseDataLoss(stack, again);
    return again;
  };
  const planned = await replan();
  await agreeToLosses(context, [{ stack, planned }], isConfirmed);
  const endpoint = await bringUp(context, stack, { ...patience, planned, replan });
  await smoke(context, endpoint, patience);
  return endpoint;
}
