// Rule 25: an emulator or custom endpoint is tried once before the first condition.
import { randomBytes } from 'node:crypto';
import { type EntityId, PROBE_PREFIX } from '../../store/contract/driver.ts';

/** The id of an entity to try a provider with; a vacuum removes what a probe leaves behind. */
export function drawProbeId(): EntityId {
  return `${PROBE_PREFIX}${randomBytes(12).toString('hex')}` as EntityId;
}

/** Shares a probe under way, forgets a failed one, keeps a result for the driver's life. */
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
