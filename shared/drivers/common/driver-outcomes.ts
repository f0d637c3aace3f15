// What the clouds' drivers share: outcomes, deadlines, the sizes of entities and the hash of ids.
import {
  chunksOf,
  type DriverLimits,
  type Part,
  partBytes,
  type Refused,
  type Unknown,
} from '../../store/contract/driver.ts';

export function refused(reason: Refused['reason'], cause?: unknown): Refused {
  return cause === undefined ? { kind: 'refused', reason } : { kind: 'refused', reason, cause };
}

export function unknown(reason: Unknown['reason'], cause?: unknown): Unknown {
  return cause === undefined ? { kind: 'unknown', reason } : { kind: 'unknown', reason, cause };
}

/** No byte of the request has left this machine, so it has no effect. `cause` says why. */
export class NotSentError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'NotSentError';
  }
}

/** No reply came in time. The request may still take effect. */
export class DeadlineError extends Error {
  constructor(timeoutMs: number, from = 'the provider') {
    super(`no reply from ${from} in time: timeoutMs=${timeoutMs}`);
    this.name = 'DeadlineError';
  }
}

/** Rejects with a DeadlineError after `timeoutMs`; the outcome of `work` is then ignored. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number, from?: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    // Node.js warns about a negative time.
    timer = setTimeout(() => reject(new DeadlineError(Math.round(timeoutMs), from)), Math.max(1, timeoutMs));
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

/** Whether an entity that consists of just these parts is within the limits. */
export function fitsAlone(parts: readonly Part[], limits: DriverLimits): boolean {
  const chunks = parts.reduce((sum, part) => sum + chunksOf(part.bytes.byteLength, limits), 0);
  const bytes = limits.entityOverheadBytes + partBytes(parts) + chunks * limits.chunkOverheadBytes;
  return chunks <= limits.chunksMax && bytes <= limits.entityBytesMax;
}

/**
 * Spreads ids over a provider's key space: FNV-1a, 32 bits, of an id's ASCII characters. It is part
 * of what is stored, so it never changes (FORMAT.md, "Hash of an id").
 */
export function hashOfId(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
