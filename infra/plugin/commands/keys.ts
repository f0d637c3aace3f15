// `serverless keys`: `--add` puts a new key before the present one, `--retire` removes the older.
// They are the deployment's, or one caller's. A step writes the secrets, and waits until the
// functions have read them. Given again after an interruption, it does what is left.
//
// Only each cloud's store of secrets keeps app keys. The keys of a role are one secret, of which
// the newest version counts. The deployment's own keys have no name, and those of callers have one.
import { randomBytes } from 'node:crypto';
import { keyText } from '../../../functions/http/key-text.ts';
import { appKeysOf, type AzureEndpoint, type CloudEndpoint, gateOf, type KeyRole, urlOf } from '../../cli/endpoints.ts';
import { askWith, type Context, outputOf, patiently, type Run } from '../context/deploy-context.ts';
import { DeployError } from '../context/deploy-settings.ts';
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

/** A caller, as its key's text begins: a name, and its limits in brackets. */
interface KeyOwner {
  readonly role: KeyRole;
  readonly text: string;
  readonly name: string;
}

type KeyStep = 'add' | 'retire';

/** Throws a DeployError that says what is expected. */
export function keyOwner(text: string, role: string | undefined): KeyOwner {
  const name = keyText(`${text}=${'x'.repeat(32)}`)?.name;
  if (name === undefined)
    throw new DeployError('--for takes NAME, or NAME(tables=orders-*;until=2027-01-31) with one limit or both');
  const found = ROLES.find((one) => one === role);
  if (found === undefined) throw new DeployError(`--for needs --role, one of ${ROLES.join(', ')}`);
  return { role: found, text, name };
}

/** How many keys of this owner there are; without an owner, how many of the deployment's own. */
export function countOf(texts: readonly string[], owner?: KeyOwner): number {
  return texts.filter((text) => isOf(text, owner)).length;
}

/** False for a text that is no key. */
function isOf(text: string, owner: KeyOwner | undefined): boolean {
  const found = keyText(text);
  return found !== undefined && found.name === owner?.name;
}

/** `add` puts a new key of the owner first, and `retire` removes its oldest. */
export function nextKeys(texts: readonly string[], step: KeyStep, fresh: string, owner?: KeyOwner): readonly string[] {
  const [theirs, others] = [texts.filter((text) => isOf(text, owner)), texts.filter((text) => !isOf(text, owner))];
  const added = owner === undefined ? fresh : `${owner.text}=${fresh}`;
  if (step === 'add') return [...(theirs.length > 1 ? theirs : [added, ...theirs]), ...others];
  // The deployment always keeps a key of its own; a caller may leave.
  return [...theirs.slice(0, owner === undefined ? 1 : -1), ...others];
}

/** The keys of a role, as texts that `key-text.ts` reads, newer ones first. */
interface RoleKeys {
  /** Of the secret's newest version. */
  readonly written: readonly string[];
  /** Those of the version before that the newest no longer has. */
  readonly former: readonly string[];
  /** Whether the function takes each of these; undefined if it does not answer. */
  readonly isTaken: ReadonlyMap<string, boolean | undefined>;
}

const ROLES = ['read', 'write', 'admin', 'compare'] as const satisfies readonly KeyRole[];

/** By each role whose keys a deployed function takes. */
type PresentKeys = ReadonlyMap<KeyRole, RoleKeys>;

/** 32 characters of base64: 192 bits. */
const KEY_BYTES = 24;
const PROBE_TIMEOUT_MS = 60_000;

function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Throws a DeployError with what the cloud's tool said. */
async function presentKeys(context: Context, endpoint: CloudEndpoint): Promise<PresentKeys> {
  const roles = ROLES.filter((role) => role in endpoint.keys);
  return new Map(await Promise.all(roles.map(async (role) => [role, await keysOf(context, endpoint, role)] as const)));
}

async function keysOf({ run }: Context, endpoint: CloudEndpoint, role: KeyRole): Promise<RoleKeys> {
  const ask = askWith(run);
  const [written, before] = await Promise.all([appKeysOf(endpoint, role, ask), textBefore(run, endpoint, role)]);
  const former = before.split(',').filter((text) => text !== '' && !written.includes(text));
  // An expired key is refused, whether or not the function has read it.
  const asked = [...written, ...former].filter((text) => (keyText(text)?.endsMs ?? Infinity) > Date.now());
  const [name, path] = role === 'compare' ? ['compare', '/v1/compare/place'] : ['records', '/v1/tables'];
  const gate = await gateOf(endpoint, name, ask);
  const url = `${urlOf(endpoint, name)}${path}`;
  const told = asked.map(async (text) => [text, await isTakenAt(url, gate, keyText(text)?.key ?? text)] as const);
  return { written, former, isTaken: new Map(await Promise.all(told)) };
}

/** Whether a function takes this key; undefined after a 5xx or no answer. */
async function isTakenAt(url: string, gate: Record<string, string>, key: string): Promise<boolean | undefined> {
  try {
    const headers = { ...gate, Authorization: `Bearer ${key}` };
    const { status } = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return status >= 500 ? undefined : status !== 401;
  } catch {
    return undefined;
  }
}

/** Whether the functions take all written keys, and no former one. */
function isServed({ written, isTaken }: RoleKeys): boolean {
  return [...isTaken].every(([text, taken]) => taken === written.includes(text));
}

/** Adds a version. The keys go through standard input, and into no argument or file. */
async function writeKeys(run: Run, endpoint: CloudEndpoint, role: KeyRole, texts: readonly string[]) {
  const input = texts.join(',');
  if (endpoint.cloud === 'gcp') {
    const place = [endpoint.keys[role]!, `--project=${endpoint.project}`];
    await outputOf(run, 'gcloud', ['secrets', 'versions', 'add', ...place, '--data-file=-'], { input });
    return;
  }
  const value = ['--value', '@-', '--output', 'none'];
  await outputOf(run, 'az', ['keyvault', 'secret', 'set', ...secretOf(endpoint, role), ...value], { input });
}

/** The keys of the version before the newest; empty if there is none. */
async function textBefore(run: Run, endpoint: CloudEndpoint, role: KeyRole): Promise<string> {
  if (endpoint.cloud === 'gcp') {
    const secret = endpoint.keys[role]!;
    const project = `--project=${endpoint.project}`;
    const order = ['--filter=state=ENABLED', '--sort-by=~createTime', '--limit=2', '--format=value(name.basename())'];
    const listed = await outputOf(run, 'gcloud', ['secrets', 'versions', 'list', secret, project, ...order]);
    const version = listed.split(/\s+/)[1];
    if (version === undefined) return '';
    return await outputOf(run, 'gcloud', ['secrets', 'versions', 'access', version, `--secret=${secret}`, project]);
  }
  const query = ['--query', 'reverse(sort_by(@, &attributes.created))[1].id', '--output', 'tsv'];
  const id = await outputOf(run, 'az', ['keyvault', 'secret', 'list-versions', ...secretOf(endpoint, role), ...query]);
  if (id === '') return '';
  return await outputOf(run, 'az', ['keyvault', 'secret', 'show', '--id', id, '--query', 'value', '--output', 'tsv']);
}

function secretOf({ subscription, keys }: AzureEndpoint, role: KeyRole): string[] {
  const { vault, secret } = keys[role]!;
  return ['--subscription', subscription, '--vault-name', vault, '--name', secret];
}
