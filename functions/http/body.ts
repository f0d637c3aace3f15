// Reads a body as a whole or line by line, within bounds of inflated bytes, of time, and of the
// instance's memory.
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { MemoryShare } from './body-memory.ts';
import { Problem } from './problem.ts';

/** Each piece takes microseconds. The largest body in the smallest packets has half as many. */
const PIECES_MAX = 65_536;

/** The default, 16 KiB, takes more than twice the processor time for 16 MiB. */
const INFLATED_CHUNK_BYTES = 128 * 1024;

const LINE_END = 0x0a;

export interface BodyBounds {
  /** Bounds the body as sent, and inflated. */
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** Takes bytes of memory before they are used; throws if there are none. */
  readonly take: MemoryShare['take'];
}

/**
 * The body, of at most `bytesMax` bytes. Throws the Problem `too_large`, `unavailable` (no memory),
 * `body_timeout`, `malformed` (bad gzip) or `unsupported_media_type` (another encoding).
 */
export async function readBody(request: Request, bounds: BodyBounds): Promise<Uint8Array> {
  const pieces = inflatedPieces(request, bounds, PIECES_MAX);
  if (Number(request.headers.get('Content-Length') ?? 0) > bounds.bytesMax) throw tooLarge(bounds.bytesMax);
  const body = new Collected(bounds);
  for await (const piece of pieces) body.add(piece);
  return body.take();
}

/** Lines without their ends, each of at most `bytesMax` bytes. Throws as `readBody` does. */
export async function* readLines(request: Request, bounds: BodyBounds): AsyncGenerator<Uint8Array, void, undefined> {
  const line = new Collected(bounds);
  for await (const piece of inflatedPieces(request, { ...bounds, bytesMax: Infinity }, Infinity)) {
    let start = 0;
    for (let end = piece.indexOf(LINE_END); end >= 0; end = piece.indexOf(LINE_END, start)) {
      line.add(piece.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(piece.subarray(start));
  }
  yield line.take();
}

/** A buffer that doubles when it is full: small pieces take no more memory than large ones. */
class Collected {
  readonly #bounds: BodyBounds;
  #bytes = Buffer.alloc(0);
  #size = 0;
  #taken = 0;

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  add(piece: Uint8Array): void {
    const { bytesMax, take } = this.#bounds;
    const size = this.#size + piece.length;
    if (size > bytesMax) throw tooLarge(bytesMax);
    if (size > this.#bytes.length) {
      const capacity = Math.min(bytesMax, Math.max(size, 2 * this.#bytes.length));
      take(Math.max(0, capacity - this.#taken));
      this.#taken = Math.max(this.#taken, capacity);
      this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#size)], capacity);
    }
    this.#bytes.set(piece, this.#size);
    this.#size = size;
  }

  /** The bytes that were added since the last call. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#size);
    this.#bytes = Buffer.alloc(0);
    this.#size = 0;
    return taken;
  }
}

function inflatedPieces(request: Request, bounds: BodyBounds, piecesMax: number): AsyncIterable<Uint8Array> {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase();
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding))
    throw new Problem('unsupported_media_type', `Content-Encoding ${JSON.stringify(encoding)}; send gzip or none`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
  const pieces = piecesOf(request, bounds, piecesMax);
  return encoding === 'identity' ? pieces : inflated(pieces);
}

async function* inflated(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const gunzip = createGunzip({ chunkSize: INFLATED_CHUNK_BYTES });
  // The inflated side throws the error too.
  pipeline(pieces, gunzip, () => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('malformed', 'the body is not gzip, as its Content-Encoding says');
  }
}

/**
 * Bounds the bytes as they are sent, because gzip may have any number of members that inflate to
 * nothing. Never cancels a body, because that would end the connection that the answer needs.
 */
async function* piecesOf(
  { body }: Request,
  { bytesMax, signal }: BodyBounds,
  piecesMax: number,
): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  // This makes a read under way, and every later one, reject.
  const giveUp = (): void => reader.releaseLock();
  signal.addEventListener('abort', giveUp);
  let size = 0;
  try {
    for (let count = 0; !signal.aborted; count += 1) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      if (count === piecesMax)
        throw new Problem('too_large', `the body comes in more than ${piecesMax} pieces: send larger ones`);
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

/** Closes the connection, on which the rest of the body may still come. */
function late(): Problem {
  return new Problem('body_timeout', 'the body did not arrive before the deadline: send it again', {
    headers: { Connection: 'close' },
  });
}
