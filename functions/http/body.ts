// Reads a body whole, bounded in inflated bytes, in time, and by the instance's memory.
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { MemoryShare } from './memory.ts';
import { Problem } from './problem.ts';

/** A piece costs some microseconds. The largest body in the smallest packets has half as many. */
const PIECES_MAX = 65_536;

/** 16 MiB in the default's pieces of 16 KiB take more than twice the processor time. */
const INFLATED_CHUNK_BYTES = 128 * 1024;

export interface BodyBounds {
  /** Bounds the body as sent, and inflated. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Takes memory, in bytes, before it is used; throws where there is none. */
  readonly take: MemoryShare['take'];
}

/**
 * The body, at most `bytesMax` bytes. Throws the Problem `too_large`, `unavailable` (no room in
 * memory), `body_timeout`, `malformed` (bad gzip) or `unsupported_media_type` (another encoding).
 */
export async function readBody(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity')
    .trim()
    .toLowerCase()
    .replace(/^x-gzip$/, 'gzip');
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new Problem('unsupported_media_type', `Content-Encoding ${JSON.stringify(encoding)}; send gzip or none`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
  }
  if (Number(request.headers.get('Content-Length') ?? 0) > bounds.bytesMax) throw tooLarge(bounds.bytesMax);
  const pieces = piecesOf(request, bounds);
  return encoding === 'gzip' ? await inflated(pieces, bounds) : await collected(pieces, bounds);
}

/** One buffer that doubles when full: many small pieces take no more memory than a few large. */
async function collected(pieces: AsyncIterable<Uint8Array>, { bytesMax, take }: BodyBounds): Promise<Uint8Array> {
  let body = Buffer.alloc(0);
  let size = 0;
  for await (const piece of pieces) {
    const sizeNow = size + piece.length;
    if (sizeNow > bytesMax) throw tooLarge(bytesMax);
    if (sizeNow > body.length) {
      const capacity = Math.min(bytesMax, Math.max(sizeNow, 2 * body.length));
      take(capacity - body.length);
      body = Buffer.concat([body.subarray(0, size)], capacity);
    }
    body.set(piece, size);
    size = sizeNow;
  }
  return body.subarray(0, size);
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
 * Bounds the bytes as sent: gzip can hold any number of members that inflate to nothing.
 * Never cancels an abandoned body: that would end the connection the answer needs.
 */
async function* piecesOf({ body }: Request, { bytesMax, signal }: BodyBounds): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  // A read under way, and every later one, then rejects.
  const giveUp = (): void => reader.releaseLock();
  signal.addEventListener('abort', giveUp);
  let size = 0;
  try {
    for (let count = 0; !signal.aborted; count += 1) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      if (count === PIECES_MAX)
        throw new Problem('too_large', `the body comes in more than ${PIECES_MAX} pieces: send larger ones`);
      yield value;
    }
    throw late();
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (signal.aborted) throw late();
    throw new Problem('malformed', 'the body broke off: send it again', { cause: error });
  } finally {
    signal.removeEventListener('abort', giveUp);
    reader.releaseLock();
  }
}

function tooLarge(bytesMax: number): Problem {
  return new Problem('too_large', `the body exceeds ${bytesMax} bytes: send less at once`);
}

/** The rest of the body may still come: no other request can follow it on its connection. */
function late(): Problem {
  return new Problem('body_timeout', 'the body did not arrive before the deadline: send it again', {
    headers: { Connection: 'close' },
  });
}
