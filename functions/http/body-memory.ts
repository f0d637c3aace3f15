// Bounds what an instance holds at once: bodies that arrive, inflated, and answers that leave.
import { Problem, RETRY_AFTER_SECONDS } from './problem.ts';

/**
 * An instance has 2 GiB. A record that is read is there some times more: as it came, in its page,
 * in its answer, and as garbage.
 */
const HELD_BYTES_MAX = 256 * 1024 * 1024;

/** A body of no more, like that of a PUT, is a small one; so is the answer of a GET. */
const SMALL_BYTES = 512 * 1024;

/** Room for 32 small ones, which large ones that never end would fill otherwise. */
const SMALL_ROOM_BYTES = 32 * SMALL_BYTES;

/** A request that may need much gets such a part of what is left: others come at the same time. */
const PART = 1 / 8;

/** One a function's app. */
export class Memory {
  #left = HELD_BYTES_MAX;

  /** One request's share. */
  share(): MemoryShare {
    let held = 0;
    // Refuses at once: requests waiting here would keep their memory and block each other.
    const take = (bytes: number): void => {
      const spare = held + bytes > SMALL_BYTES ? SMALL_ROOM_BYTES : 0;
      if (bytes > Math.max(0, this.#left - spare)) throw noMemory();
      this.#left -= bytes;
      held += bytes;
    };
    return {
      take,
      takeUpTo: (bytesMax) => {
        const part = Math.floor((this.#left - SMALL_ROOM_BYTES) * PART);
        const bytes = Math.min(bytesMax, Math.max(part, SMALL_BYTES));
        take(bytes);
        return bytes;
      },
      giveBack: (bytes) => {
        this.#left += bytes;
        held -= bytes;
      },
      get held() {
        return held;
      },
    };
  }
}

/** Bytes are taken before they are used. */
export interface MemoryShare {
  /** Throws the Problem `unavailable` where the instance has no room for as many bytes more. */
  readonly take: (bytes: number) => void;
  /** Takes so many, or fewer where others hold much, and tells how many. Throws as `take` does. */
  readonly takeUpTo: (bytesMax: number) => number;
  /** Returns so many of the bytes that it holds. */
  readonly giveBack: (bytes: number) => void;
  readonly held: number;
}

/** Smaller answers lie in the buffers of their connections, and are not counted. */
const COUNTED_BYTES = 64 * 1024;

/** Bytes of an answer that count: `ofStream` for one whose size is not known. */
export function countedSize({ body, headers }: Response, ofStream: number): number {
  const size = body === null ? 0 : Number(headers.get('Content-Length') ?? ofStream);
  return size < COUNTED_BYTES ? 0 : size;
}

/** Keeps as much memory as the answer takes until it is sent, or its caller has gone. */
export function heldUntilSent(response: Response, { signal }: Request, share: MemoryShare): Response {
  const { body, status, headers } = response;
  const size = signal.aborted ? 0 : countedSize(response, Infinity);
  share.giveBack(share.held - Math.min(share.held, size));
  if (body === null || share.held === 0) return response;
  const giveBack = (): void => share.giveBack(share.held);
  signal.addEventListener('abort', giveBack);
  const reader = body.getReader();
  const sent = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        giveBack();
      },
      async cancel(reason) {
        giveBack();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(sent, { status, headers });
}

export function noMemory(): Problem {
  return new Problem('unavailable', 'this instance has no memory left for this: ask for it again', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}
