// Rule 25: an emulator or custom endpoint is tried once before the first conditional write.
import { randomBytes } from 'node:crypto';
import { type EntityId, PROBE_PREFIX, type Refused } from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';
import { refused, withDeadline } from './driver-outcomes.ts';

/** The id of an entity for a probe. A vacuum removes it if the probe leaves it behind. */
export function drawProbeId(): EntityId {
  return `${PROBE_PREFIX}${randomBytes(12).toString('hex')}` as EntityId;
}

/** The outcome of all conditional writes to an endpoint with this fault. */
export function unfit(fault: string): Refused {
  return refused('invalid', new Error(`this endpoint cannot hold a store, use another: ${fault}`));
}

/** A vacuum of another process may remove a probe's entity at any time, which proves nothing. */
export function probeRemoved(cause?: unknown): StoreError {
  return new StoreError('unavailable', 'the entity that probed this endpoint was removed meanwhile', { cause });
}

/** The reply to a probe's request whose condition must hold. */
export async function unlessRemoved<T>(
  request: Promise<T>,
  isConditionFailure: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw isConditionFailure(error) ? probeRemoved(error) : error;
  }
}

/** Whether a request fails because its condition does not hold. Throws any other error. */
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
 * Writes share one probe. Its result is kept for the driver's life. If it fails, the writes that
 * wait for it are not sent, and the next write starts another.
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
    // Returns early to save each write a timer and a race of promises.
    if (known !== undefined) return known.result;
    try {
      return await withDeadline((underWay ??= run(timeoutMs)), timeoutMs);
    } catch (error) {
      const cause = errorOf(error);
      return refused(cause.retryable ? 'unsent' : 'denied', cause);
    }
  };
}
