// Keys of the comparison. One rule for every layout: `t07:customer:5f3a09c1`, a tenant and a random-looking, unique customer id.
// The tenant is what a sensible user of Azure Table Storage would take as the partition key; 500 records that are handed over together belong to one.
import { power } from './exact-math.ts';
import { type Random, randomInt, scramble32 } from './random.ts';

/** Tenants, each one partition of a baseline's Azure table. */
const TENANTS = 16;

/** Records in a row that belong to one tenant. */
const TENANT_RUN = 500;

const KEY_STEMS = Array.from({ length: TENANTS }, (_, tenant) => `t${String(tenant).padStart(2, '0')}:customer:`);

/** The key of record `index`; the same index always has the same key, whatever the layout, and no two indexes share one. */
export function keyOf(index: number): string {
  const tenant = Math.floor(index / TENANT_RUN) % TENANTS;
  return KEY_STEMS[tenant]! + scramble32(index).toString(16).padStart(8, '0');
}

/** The key's tenant, `t07`. */
export function tenantOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

/** Indexes in [0, count), each as likely as the other. */
export function uniformIndexes(count: number, random: Random): () => number {
  return () => randomInt(random, count);
}

/** YCSB's constant: the exponent of its zipfian distribution. */
const ZIPFIAN_THETA = 0.99;

/**
 * Indexes in [0, count), rank r drawn in proportion to 1/(r+1)^0.99, ranks scattered over the indexes by a hash: YCSB's scrambled zipfian.
 * Gray et al., "Quickly generating billion-record synthetic databases", SIGMOD 1994; the scattering may lay two ranks on one index.
 */
export function zipfianIndexes(count: number, random: Random): () => number {
  const zetaOfAll = zeta(count);
  const alpha = 1 / (1 - ZIPFIAN_THETA);
  const eta = (1 - power(2 / count, 1 - ZIPFIAN_THETA)) / (1 - zeta(Math.min(2, count)) / zetaOfAll);
  const rank = (): number => {
    const u = random();
    const scaled = u * zetaOfAll;
    if (scaled < 1 || count === 1) return 0;
    if (scaled < 1 + power(0.5, ZIPFIAN_THETA) || count === 2) return 1;
    return Math.min(count - 1, Math.floor(count * power(eta * u - eta + 1, alpha)));
  };
  return () => scramble32(rank() + 1) % count;
}

function zeta(count: number): number {
  let sum = 0;
  for (let rank = 1; rank <= count; rank++) sum += power(rank, -ZIPFIAN_THETA);
  return sum;
}
