// Rule 25: what an emulator or a custom endpoint really does is tried once, before it is trusted
// with a condition. How, each driver knows.
import { randomBytes } from 'node:crypto';
import { type EntityId, PROBE_PREFIX } from '../../store/contract/driver.ts';

/** The id of an entity to try a provider with; a vacuum removes what a probe leaves behind. */
export function drawProbeId(): EntityId {
  return `${PROBE_PREFIX}${randomBytes(12).toString('hex')}` as EntityId;
}

/**
 * Runs `probe` once. One under way is shared, one that failed is forgotten, a result holds for the
 * driver's life.
 */
export function probeOnce<T>(probe: (timeoutMs: number) => Promise<T>): (timeoutMs: number) => T | Promise<T> {
  let underWay: Promise<T> | undefined;
  let known: { readonly result: T } | undefined;
  const run = async (timeoutMs: number): Promise<T> => {
    try {
      const result = await probe(timeoutMs);
      known = { result };
      return result;
    } finally {
      underWay = undefined;
    }
  };
  return (timeoutMs) => (known === undefined ? (underWay ??= run(timeoutMs)) : known.result);
}
