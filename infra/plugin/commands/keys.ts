// `serverless keys`: `--add` puts a new key before the present one, `--retire` removes the older.
// They are the deployment's, or one caller's. Run again, it leaves finished work alone.
import { keyText } from '../../../functions/http/key-text.ts';
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/context.ts';
import { DeployError } from '../context/settings.ts';
import { type AppKeys, newKeys, presentKeys, type PresentKeys, ROLES } from '../stack/app-keys.ts';
import { bringUp } from '../stack/bring-up.ts';
import { writeEndpoints } from '../stack/endpoints-file.ts';
import { countOf, type KeyOwner, type KeyStep, nextKeys } from '../stack/key-change.ts';
import type { Patience } from '../stack/patience.ts';
import { openStacks, type Present, presentOf, type Stack, variablesOf } from '../stack/stack.ts';
import type { Planned } from '../stack/terraform.ts';
import { agreeToLosses, refuseDataLoss } from './agree.ts';
import { smoke } from './smoke.ts';

export interface KeysOptions extends Patience {
  readonly step: 'show' | KeyStep;
  /** Default: the deployment's own keys, of every role. */
  readonly owner?: KeyOwner;
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
export async function changeKeys(context: Context, { step, owner, ...options }: KeysOptions): Promise<void> {
  const all: Keyed[] = [];
  for (const stack of await openStacks(context)) all.push(await keyed(stack, context));
  if (step === 'show') return;
  const isDone = owner === undefined ? isRotated(step) : isAhead(all, step, owner);
  if (all.every(isDone)) throw new DeployError(owner === undefined ? DONE[step] : DONE_FOR[step]);
  const endpoints: CloudEndpoint[] = [];
  for (const one of all) {
    if (isDone(one)) {
      endpoints.push(one.endpoint);
      continue;
    }
    const audit = { audit: `keys ${step}`, cloud: one.endpoint.cloud, by: one.stack.account.who, ...owner };
    const told = (outcome: string): void => context.log(JSON.stringify({ ...audit, outcome }));
    try {
      endpoints.push(await replace(one, context, nextKeys(one.present, step, newKeys(), owner), options));
    } catch (error) {
      told('failed');
      throw error;
    }
    told('done');
  }
  await writeEndpoints(context.settings, endpoints);
}

/** The number of a role's own keys that are valid after a step. */
const WANTED = { add: 2, retire: 1 } as const;
const DONE = {
  add: 'two keys of each role are valid already: `--retire` the older ones first',
  retire: 'one key of each role is valid: there is none to retire',
} as const;
const DONE_FOR = {
  add: 'this caller has two keys already: `--retire` the older one first',
  retire: 'this caller has no key of this role',
} as const;

function isRotated(step: KeyStep): (one: Keyed) => boolean {
  return ({ present }) => ROLES.every((role) => countOf(present[role]) === WANTED[step]);
}

/** A cloud that differs from another has been done before, by a command that failed there. */
function isAhead(all: readonly Keyed[], step: KeyStep, owner: KeyOwner): (one: Keyed) => boolean {
  const counted = ({ present }: Keyed): number => countOf(present[owner.role], owner);
  const counts = all.map(counted);
  if (step === 'add') return (one) => counted(one) > Math.min(...counts, 1);
  return (one) => counted(one) < Math.max(...counts, 1);
}

async function keyed(stack: Stack, context: Context): Promise<Keyed> {
  const { cloud } = stack.side;
  const state = await presentOf(stack);
  const { endpoint } = state;
  if (endpoint === undefined) throw new DeployError(`${cloud}: no functions are deployed`);
  const present = await presentKeys(context, endpoint);
  context.log(`${cloud}: ${ROLES.map((role) => `${role} ${shown(present[role])}`).join(', ')}`);
  return { stack, endpoint, state, present };
}

/** How many keys are the deployment's own, and what the others are called and may. */
function shown(texts: readonly string[]): string {
  const others = texts.map((text) => text.slice(0, text.length - (keyText(text)?.key.length ?? text.length)));
  return [countOf(texts), ...others.filter((text) => text !== '').map((text) => text.slice(0, -1))].join(' + ');
}

async function replace(
  { stack, state }: Keyed,
  context: Context,
  keys: AppKeys,
  { isConfirmed = false, ...patience }: Omit<KeysOptions, 'step' | 'owner'>,
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
