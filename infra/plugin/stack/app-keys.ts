// App keys: made here, kept only in each cloud's store of secrets, read with the user's login.
import { randomBytes } from 'node:crypto';
import { appKeysOf, type CloudEndpoint, type KeyRole } from '../../cli/endpoints.ts';
import { askWith, type Context } from '../context/context.ts';
import { Stopped } from '../context/tools.ts';

/** The texts of a role's app keys, with commas between. */
export type AppKeys = Readonly<Record<KeyRole, string>>;

/** The newest first. */
export type PresentKeys = Readonly<Record<KeyRole, readonly string[]>>;

export const ROLES = ['read', 'write', 'admin', 'compare'] as const satisfies readonly KeyRole[];

/** 32 characters of base64: 192 bits. */
const KEY_BYTES = 24;

/** One a role. Terraform takes them where there are none, or when their version changes. */
export function newKeys(): AppKeys {
  return byRole(() => randomBytes(KEY_BYTES).toString('base64url'));
}

/** The keys that callers have now. Throws a DeployError with what the cloud's tool said. */
export async function presentKeys({ run }: Context, endpoint: CloudEndpoint): Promise<PresentKeys> {
  const ask = askWith(run);
  const found = await Promise.all(ROLES.map((role) => appKeysOf(endpoint, role, ask)));
  return byRole((_, at) => found[at]!);
}

/**
 * The present keys, so that an interrupted change refuses nobody. New ones if there are none,
 * or if they cannot be read, which is logged.
 */
export async function keysToKeep(context: Context, endpoint: CloudEndpoint | undefined): Promise<AppKeys> {
  if (endpoint === undefined) return newKeys();
  try {
    const present = await presentKeys(context, endpoint);
    return byRole((role) => present[role].join(','));
  } catch (error) {
    if (error instanceof Stopped) throw error;
    const why = error instanceof Error ? error.message : String(error);
    context.log(`${endpoint.cloud}: the app keys cannot be read (${why}); should some be missing, new ones are made`);
    return newKeys();
  }
}

/** Makes one value for each role; `at` counts roles from 0. */
export function byRole<Value>(valueOf: (role: KeyRole, at: number) => Value): Record<KeyRole, Value> {
  return Object.fromEntries(ROLES.map((role, at) => [role, valueOf(role, at)])) as Record<KeyRole, Value>;
}
