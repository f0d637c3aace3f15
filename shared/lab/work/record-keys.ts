// Keys such as `t07:customer:5f3a09c1`. The tenant is Azure's partition; 500 in a row share one.
import { scramble32 } from '../kit/random.ts';

/** Tenants, each one partition of a baseline's Azure table. */
const TENANTS = 16;

/** Records in a row that belong to one tenant. */
export const TENANT_RUN = 500;

const KEY_STEMS = Array.from({ length: TENANTS }, (_, tenant) => `t${String(tenant).padStart(2, '0')}:customer:`);

/** One key an index, whatever the layout; no two indexes share one. */
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
