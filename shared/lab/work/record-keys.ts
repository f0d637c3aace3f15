// Keys such as `t07:customer:5f3a09c1`. The tenant is Azure's partition key; 500 consecutive
// records share one.
import { scramble32 } from '../kit/random.ts';

/** Tenants, each one partition of a baseline's Azure table. */
const TENANTS = 16;

/** Consecutive records that belong to one tenant. */
export const TENANT_RUN = 500;

const KEY_STEMS = Array.from({ length: TENANTS }, (_, tenant) => `t${String(tenant).padStart(2, '0')}:customer:`);

/** The key of a record's number, the same in all layouts; no two numbers share one. */
export function keyOf(index: number): string {
  const tenant = Math.floor(index / TENANT_RUN) % TENANTS;
  return KEY_STEMS[tenant]! + scramble32(index).toString(16).padStart(8, '0');
}

/** The key's tenant, `t07`. */
export function tenantOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** A scan that ends there stays in one partition of the Azure table. */
export function tenantEnd(key: string): string {
  // `;` comes after `:` in ASCII.
  return `${tenantOf(key)};`;
}
