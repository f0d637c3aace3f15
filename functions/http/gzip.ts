// Compresses answers for callers who accept gzip.
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';

/** A smaller answer fits one packet either way. */
const BYTES_MIN = 1_400;

/** Types that shrink. Most large answers of other types are compressed already. */
const SHRINKS = /^(?:text\/|application\/(?:json|x-ndjson|problem\+json|vnd\.msgpack)(?:;|$))/;

/** Never gzips an answer with an entity tag, which names the bytes as they are. */
export function inGzip(response: Response, request: Request): Response {
  const { body, status, headers } = response;
  const size = Number(headers.get('Content-Length') ?? Infinity);
  const isOther =
    headers.has('ETag') || headers.has('Content-Encoding') || !SHRINKS.test(headers.get('Content-Type') ?? '');
  if (body === null || size < BYTES_MIN || isOther || !codingsOf(request).includes('gzip')) return response;
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, flush: constants.Z_SYNC_FLUSH });
  // The pipeline passes errors from one side to the other.
  pipeline(Readable.fromWeb(body), gzip, () => {});
  const sent = new Response(Readable.toWeb(gzip) as ReadableStream<Uint8Array>, { status, headers });
  sent.headers.delete('Content-Length');
  sent.headers.set('Content-Encoding', 'gzip');
  return sent;
}

/** The codings that a caller names without `q=0`. One that sends only `*` may not know gzip. */
function codingsOf({ headers }: Request): string[] {
  const codings = (headers.get('Accept-Encoding') ?? '').toLowerCase().split(',');
  return codings.flatMap((coding) =>
    /;\s*q=0(\.0*)?\s*$/.test(coding) ? [] : coding.split(';')[0]!.trim().replace('x-gzip', 'gzip'),
  );
}
