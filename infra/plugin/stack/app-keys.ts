// App keys, which only each cloud's store of secrets keeps. The keys of a role are one secret, of
// which the newest version counts. Functions read it when they are told to.
import { randomBytes } from 'node:crypto';
import { keyText } from '../../../functions/http/key-text.ts';
import { appKeysOf, type AzureEndpoint, type CloudEndpoint, gateOf, type KeyRole, urlOf } from '../../cli/endpoints.ts';
import { askWith, type Context } from '../context/deploy-context.ts';
import { outputOf, type Run } from '../context/cloud-tools.ts';

/** The keys of a role, as texts that `key-text.ts` reads, newer ones first. */
export interface RoleKeys {
  /** Of the secret's newest version. */
  readonly written: readonly string[];
  /** Those of the version before that the newest no longer has. */
  readonly former: readonly string[];
  /** Whether the function takes each of these; undefined if it does not answer. */
  readonly isTaken: ReadonlyMap<string, boolean | undefined>;
}

export const ROLES = ['read', 'write', 'admin', 'compare'] as const satisfies readonly KeyRole[];

/** By each role whose keys a deployed function takes. */
export type PresentKeys = ReadonlyMap<KeyRole, RoleKeys>;

/** 32 characters of base64: 192 bits. */
const KEY_BYTES = 24;
const PROBE_TIMEOUT_MS = 60_000;

export function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Throws a DeployError with what the cloud's tool said. */
export async function presentKeys(context: Context, endpoint: CloudEndpoint): Promise<PresentKeys> {
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
export function isServed({ written, isTaken }: RoleKeys): boolean {
  return [...isTaken].every(([text, taken]) => taken === written.includes(text));
}

/** Adds a version. The keys go through standard input, and into no argument or file. */
export async function writeKeys(run: Run, endpoint: CloudEndpoint, role: KeyRole, texts: readonly string[]) {
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
