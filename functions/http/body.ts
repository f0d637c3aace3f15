// Reads a request's body whole, bounded in bytes as it is inflated, in time, and by what all bodies of the instance take together.
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { Problem, RETRY_AFTER_SECONDS } from './problem.ts';

/** Bytes of all bodies that an instance holds at once: four of the largest, and two MiB for each of 32 requests. Joining their pieces takes as much again. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

/** 16 MiB in the default's pieces of 16 KiB take more than twice the processor time. */
const INFLATED_CHUNK_BYTES = 128 * 1024;

/** What the bodies of an instance may take in memory, inflated. */
export class BodyRoom {
  #left = HELD_BYTES_MAX;

  /** One request's share. */
  share(): BodyShare {
    let held = 0;
    return {
      take: (bytes) => {
        // Who waited here would keep what it has, and all could wait for each other.
        if (bytes > this.#left) throw full();
        this.#left -= bytes;
        held += bytes;
      },
      giveBack: () => {
        this.#left += held;
        held = 0;
      },
    };
  }
}

export interface BodyShare {
  /** Throws the Problem `unavailable` where the instance has no room for as many bytes more. */
  readonly take: (bytes: number) => void;
  /** When the request is answered. */
  readonly giveBack: () => void;
}

/** How a body is read. */
export interface BodyBounds {
  /** As it is, inflated. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Is told of bytes before they are kept, and throws where they must not be. */
  readonly take: BodyShare['take'];
}

/**
 * The body, at most `bytesMax` bytes. Throws the Problem `too_large`, `unavailable` (no room in memory), `body_timeout`, `malformed` (bad gzip) or
 * `unsupported_media_type` (another encoding).
 */
export async function readBody(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new Problem('unsupported_media_type', `Content-Encoding ${JSON.stringify(encoding)}; send gzip or none`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
  }
  if (Number(request.headers.get('Content-Length') ?? 0) > bounds.bytesMax) throw tooLarge(bounds.bytesMax);
  const pieces = piecesOf(request, bounds.signal);
  return encoding === 'gzip' ? await inflated(pieces, bounds) : await collected(pieces, bounds);
}

async function collected(pieces: AsyncIterable<Uint8Array>, { bytesMax, take }: BodyBounds): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    take(piece.length);
    chunks.push(piece);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

async function inflated(pieces: AsyncIterable<Uint8Array>, bounds: BodyBounds): Promise<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK_BYTES });
  try {
    return await pipeline(pieces, gunzip, (chunks: AsyncIterable<Buffer>) => collected(chunks, bounds));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed', 'the body is not gzip, as its Content-Encoding says');
  }
}

/**
 * A body that is given up is left unread, not cancelled: cancelling would end the connection that the answer needs. Whoever owns the
 * connection takes off it what is left.
 */
async function* piecesOf(request: Request, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  if (request.body === null) return;
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const deadline = deadlineOf(signal);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.passed]);
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed', 'the body broke off: send it again', { cause: error });
  } finally {
    deadline.forget();
    reader.releaseLock();
  }
}

function deadlineOf(signal: AbortSignal): { passed: Promise<never>; forget: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const pass = (): void => reject(late());
  // Nobody may be waiting when it passes.
  promise.catch(() => {});
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass, { once: true });
  return { passed: promise, forget: () => signal.removeEventListener('abort', pass) };
}

function tooLarge(bytesMax: number): Problem {
  return new Problem('too_large', `the body exceeds ${bytesMax} bytes: send less at once`);
}

function full(): Problem {
  return new Problem('unavailable', 'this instance has no memory for one more body: send the request again', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}

/** The rest of the body may still come: no other request can follow it on its connection. */
function late(): Problem {
  return new Problem('body_timeout', 'the body did not arrive before the deadline: send it again', {
    headers: { Connection: 'close' },
  });
}
