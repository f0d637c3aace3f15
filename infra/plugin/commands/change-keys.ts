// `serverless keys`: `--add` puts a new key before the present one, `--retire` removes the older.
// They are the deployment's, or one caller's. A step writes the secrets, and waits until the
// functions have read them. Given again after an interruption, it does what is left.
import { keyText } from '../../../functions/http/key-text.ts';
import type { CloudEndpoint } from '../../cli/endpoints.ts';
import type { Context } from '../context/deploy-context.ts';
import { DeployError } from '../context/deploy-settings.ts';
import { isServed, newKey, presentKeys, type PresentKeys, type RoleKeys, writeKeys } from '../stack/app-keys.ts';
import { countOf, isOf, type KeyOwner, type KeyStep, nextKeys } from '../stack/key-change.ts';
import { patiently } from '../stack/patience.ts';
import { openStacks, presentOf, type Stack } from '../stack/stack.ts';

export interface KeysOptions {
  readonly step: 'show' | KeyStep;
  /** Default: the deployment's own keys, of every role. */
  readonly owner?: KeyOwner;
}

interface Keyed {
  readonly stack: Stack;
  readonly endpoint: CloudEndpoint;
  readonly present: PresentKeys;
}

/** Throws a DeployError if a cloud has no functions, or if every cloud is done already. */
export async function changeKeys(context: Context, { step, owner }: KeysOptions): Promise<void> {
  const all: Keyed[] = [];
  for (const stack of await openStacks(context)) all.push(await keyed(stack, context));
  if (step === 'show') return;
  const isWritten = owner === undefined ? isRotated(step) : isAhead(all, step, owner);
  const open = all.filter((one) => !isWritten(one) || !isServedBy(one));
  if (open.length === 0) throw new DeployError(owner === undefined ? DONE[step] : DONE_FOR[step]);
  for (const one of open) {
    const audit = { audit: `keys ${step}`, cloud: one.endpoint.cloud, by: one.stack.account.who, ...owner };
    const told = (outcome: string): void => context.log(JSON.stringify({ ...audit, outcome }));
    try {
      if (!isWritten(one) && !isBegun(one, step, owner)) await write(context, one, step, owner);
      await serve(context, one);
    } catch (error) {
      told('failed');
      throw error;
    }
    told('done');
  }
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
  return ({ present }) => [...present.values()].every(({ written }) => countOf(written) === WANTED[step]);
}

/** If a command failed between two clouds, the first of them already has the keys it wrote. */
function isAhead(all: readonly Keyed[], step: KeyStep, owner: KeyOwner): (one: Keyed) => boolean {
  const counted = ({ present }: Keyed): number => countOf(present.get(owner.role)?.written ?? [], owner);
  const counts = all.map(counted);
  if (step === 'add') return (one) => counted(one) > Math.min(...counts, 1);
  return (one) => counted(one) < Math.max(...counts, 1);
}

/** Whether this step wrote the caller's key before, and ended before the functions served it. */
function isBegun({ present }: Keyed, step: KeyStep, owner: KeyOwner | undefined): boolean {
  const found = owner && present.get(owner.role);
  if (found === undefined) return false;
  const { written, former, isTaken } = found;
  const [texts, unserved] = step === 'add' ? [written, false] : [former, true];
  return texts.some((text) => isOf(text, owner) && isTaken.get(text) === unserved);
}

function isServedBy({ present }: Keyed): boolean {
  return [...present.values()].every(isServed);
}

async function keyed(stack: Stack, context: Context): Promise<Keyed> {
  const { cloud } = stack.side;
  const { endpoint } = await presentOf(stack);
  if (endpoint === undefined) throw new DeployError(`${cloud}: no functions are deployed`);
  const present = await presentKeys(context, endpoint);
  context.log(`${cloud}: ${[...present].map(([role, keys]) => `${role} ${shown(keys)}`).join(', ')}`);
  return { stack, endpoint, present };
}

/** The number of the deployment's keys, names and limits of callers', and what is not served. */
function shown({ written, former, isTaken }: RoleKeys): string {
  const others = written.map((text) => text.slice(0, text.length - (keyText(text)?.key.length ?? text.length)));
  const names = others.filter((text) => text !== '').map((text) => text.slice(0, -1));
  const asked = [...isTaken.entries()];
  const notes = [
    [asked.filter(([text, taken]) => taken === false && written.includes(text)).length, 'not served yet'],
    [asked.filter(([text, taken]) => taken === true && former.includes(text)).length, 'older still valid'],
    [asked.filter(([, taken]) => taken === undefined).length, 'not known, as the function does not answer'],
  ].flatMap(([count, text]) => (count === 0 ? [] : [`${count} ${text}`]));
  return [countOf(written), ...names].join(' + ') + (notes.length === 0 ? '' : ` (${notes.join(', ')})`);
}

/** Throws a DeployError if it would retire the only keys that the functions know. */
async function write(context: Context, { endpoint, present }: Keyed, step: KeyStep, owner?: KeyOwner): Promise<void> {
  for (const [role, { written, isTaken }] of present) {
    if (owner !== undefined && owner.role !== role) continue;
    const texts = nextKeys(written, step, newKey(), owner);
    if (step === 'retire' && texts.some((text) => isTaken.has(text) && isTaken.get(text) !== true))
      throw new DeployError(
        `${endpoint.cloud}: not all keys of ${role} that stay are served: \`--add\` again ends that`,
      );
    if (texts.join(',') !== written.join(',')) await writeKeys(context.run, endpoint, role, texts);
  }
}

async function serve(context: Context, { stack, endpoint }: Keyed): Promise<void> {
  await stack.side.rereadKeys(context, endpoint);
  await patiently(context, `${endpoint.cloud}: not served yet; the same command goes on`, async () => {
    const present = await presentKeys(context, endpoint);
    const open = [...present].filter(([, keys]) => !isServed(keys)).map(([role]) => role);
    if (open.length > 0) throw new DeployError(`the functions have not read the keys of ${open.join(', ')}`);
  });
}
