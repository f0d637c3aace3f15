// Reads a request's body whole, bounded in bytes before and after inflation, and in time.
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Problem } from './problem.ts';

const inflate = promisify(gunzip);

/** Gives at most `bytesMax` bytes, or throws `too_large`, `body_timeout`, `malformed` (bad gzip) or `unsupported_media_type` (another encoding). */
export async function readBody(request: Request, bytesMax: number, signal: AbortSignal): Promise<Uint8Array> {
  const encoding = (request.headers.get('Content-Encoding') ?? 'identity').trim().toLowerCase();
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new Problem('unsupported_media_type', `Content-Encoding ${JSON.stringify(encoding)}; send gzip or none`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
  }
  if (Number(request.headers.get('Content-Length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await collect(request, bytesMax, signal);
  return encoding === 'gzip' ? await inflated(bytes, bytesMax) : bytes;
}

/**
 * A body that is given up is left unread, not cancelled: cancelling would end the connection that the answer needs. Whoever owns the
 * connection takes off it what is left.
 */
async function collect(request: Request, bytesMax: number, signal: AbortSignal): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const deadline = deadlineOf(signal);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.passed]);
      if (done) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      size += value.length;
      if (size > bytesMax) throw tooLarge(bytesMax);
      chunks.push(value);
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

async function inflated(bytes: Uint8Array, bytesMax: number): Promise<Uint8Array> {
  try {
    return await inflate(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(bytesMax);
    throw new Problem('malformed', 'the body is not gzip, as its Content-Encoding says');
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
