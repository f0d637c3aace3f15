// Rule 25: an emulator or custom endpoint is tried once before the first condition.
import { randomBytes } from 'node:crypto';
import { type EntityId, PROBE_PREFIX, type Refused } from '../../store/contract/driver.ts';
import type { StoreError } from '../../store/contract/errors.ts';
import { refused, withDeadline } from './outcomes.ts';

/** The id of an entity to try a provider with; a vacuum removes what a probe leaves behind. */
export function drawProbeId(): EntityId {
  return `${PROBE_PREFIX}${randomBytes(12).toString('hex')}` as EntityId;
}

/** Whether a request fails as its condition does not hold. Throws what else it fails with. */
export async function isRefused(
  request: Promise<unknown>,
  isConditionFailure: (error: unknown) => boolean,
): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (error) {
    if (isConditionFailure(error)) return true;
    throw error;
  }
}

/**
 * Shares a probe under way, keeps a result for the driver's life, and forgets a failed probe: the
 * writes that wait for it are not sent.
 */
export function probeOnce<T>(
  probe: (timeoutMs: number) => Promise<T>,
  errorOf: (error: unknown) => StoreError,
): (timeoutMs: number) => Promise<T | Refused> {
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
  return async (timeoutMs) => {
    // A deadline for each write would cost a timer and a race of promises.
    if (known !== undefined) return known.result;
    try {
      return await withDeadline((underWay ??= run(timeoutMs)), timeoutMs);
    } catch (error) {
      const cause = errorOf(error);
      return refused(cause.retryable ? 'unsent' : 'denied', cause);
    }
  };
}
