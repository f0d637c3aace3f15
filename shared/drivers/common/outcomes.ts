// Outcomes of writes and removals, and deadlines of requests, for all drivers.
import {
  chunksOf,
  type DriverLimits,
  type Part,
  partBytes,
  type Refused,
  type Unknown,
} from '../../store/contract/driver.ts';
import { StoreError } from '../../store/contract/errors.ts';

export function refused(reason: Refused['reason'], cause?: unknown): Refused {
  return cause === undefined ? { kind: 'refused', reason } : { kind: 'refused', reason, cause };
}

export function unknown(reason: Unknown['reason'], cause?: unknown): Unknown {
  return cause === undefined ? { kind: 'unknown', reason } : { kind: 'unknown', reason, cause };
}

/** No reply came in time. The request may still take effect. */
export class DeadlineError extends Error {
  constructor(timeoutMs: number) {
    super(`no reply in time: timeoutMs=${timeoutMs}`);
    this.name = 'DeadlineError';
  }
}

/** The result of `work`, or a DeadlineError after `timeoutMs`; what becomes of `work` afterwards is ignored. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** The requests that a driver has under way. Each ends with its reply, at its deadline, or when the driver is closed. */
export class Requests {
  readonly #underWay = new Set<AbortController>();
  #isClosed = false;

  /** The request's result, or a DeadlineError after `timeoutMs`. Its signal aborts when nobody waits for it any more: `send` must heed it. */
  async run<T>(timeoutMs: number, send: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new StoreError('unavailable', 'the driver is closed, open another', { retryable: false });
    const abort = new AbortController();
    this.#underWay.add(abort);
    try {
      return await withDeadline(send(abort.signal), timeoutMs);
    } catch (error) {
      // Frees what the request holds. Not after a reply: it would do nothing, and takes longer than the driver's own work.
      abort.abort();
      throw error;
    } finally {
      this.#underWay.delete(abort);
    }
  }

  /** Aborts the requests under way, whose outcomes stay unknown, and refuses further ones. */
  close(): void {
    this.#isClosed = true;
    for (const abort of this.#underWay) abort.abort();
  }
}

/** Whether an entity that consists of just these parts is within the limits. */
export function fitsAlone(parts: readonly Part[], limits: DriverLimits): boolean {
  const chunks = parts.reduce((sum, part) => sum + chunksOf(part.bytes.byteLength, limits), 0);
  const bytes = limits.entityOverheadBytes + partBytes(parts) + chunks * limits.chunkOverheadBytes;
  return chunks <= limits.chunksMax && bytes <= limits.entityBytesMax;
}
