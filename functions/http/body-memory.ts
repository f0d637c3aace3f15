// Bounds the memory of an instance: inflated bodies that arrive, and answers that are being sent.
import { Problem, RETRY_AFTER_SECONDS } from './problem.ts';

/**
 * An instance has 2 GiB. It holds a record several times: as it arrived, in its page, in its
 * answer, and as garbage.
 */
const HELD_BYTES_MAX = 256 * 1024 * 1024;

/** A request is small up to this size, which the body of a PUT and the answer of a GET keep. */
const SMALL_BYTES = 512 * 1024;

/** Kept for 32 small requests, so that large ones cannot lock them out. */
const SMALL_ROOM_BYTES = 32 * SMALL_BYTES;

/** A request that may need much gets this share of the free memory, as others come meanwhile. */
const PART = 1 / 8;

/** The memory of one function's app. */
export class Memory {
  #left = HELD_BYTES_MAX;

  /** One request's share. */
  share(): MemoryShare {
    let held = 0;
    // Refuses at once: requests that wait here would keep their memory and block each other.
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

/** Memory of one request, which takes bytes before it uses them. */
export interface MemoryShare {
  /** Throws the Problem `unavailable` if the instance has no room for so many more bytes. */
  readonly take: (bytes: number) => void;
  /** Takes at most so many bytes, fewer if others hold much, and returns their number. */
  readonly takeUpTo: (bytesMax: number) => number;
  readonly giveBack: (bytes: number) => void;
  readonly held: number;
}

/** Smaller answers are in the buffers of their connections and do not count. */
const COUNTED_BYTES = 64 * 1024;

/** The bytes of an answer that count; `ofStream` if it is a stream of unknown size. */
export function countedSize({ body, headers }: Response, ofStream: number): number {
  const size = body === null ? 0 : Number(headers.get('Content-Length') ?? ofStream);
  return size < COUNTED_BYTES ? 0 : size;
}

/** Keeps the memory of the answer until it is sent or its caller has gone. */
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
