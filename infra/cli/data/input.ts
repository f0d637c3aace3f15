// The bytes of a file or of the standard input, unpacked if they are gzip.
import { createReadStream } from 'node:fs';
import { addAbortSignal, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../command-options.ts';

/** The name of the standard input in place of a file's. */
export const STANDARD_INPUT = '-';
/** The first bytes of gzip; no text in UTF-8 holds the second. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export interface Input {
  /** A file's path, or STANDARD_INPUT. */
  readonly source: string;
  readonly name: string;
  /** Called with the bytes read so far, packed as they are. */
  readonly onRead: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Reads no more than is taken. Throws a UsageError about `name` if its gzip is damaged. */
export async function* bytesOf({ source, name, onRead, signal }: Input): AsyncGenerator<Uint8Array> {
  const opened = source === STANDARD_INPUT ? process.stdin : createReadStream(source);
  const chunks = heard(addAbortSignal(signal, opened) as AsyncIterable<Buffer>, onRead);
  let head: Buffer = Buffer.alloc(0);
  while (head.length < GZIP_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = Readable.from(headThen(head, chunks));
  if (!head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) {
    yield* all;
    return;
  }
  const unpacked = createGunzip();
  all.on('error', (error) => unpacked.destroy(error));
  try {
    yield* all.pipe(unpacked);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_'))) throw cause;
    throw new UsageError(`${name} is damaged gzip: ${cause.message}`, { cause });
  } finally {
    all.destroy();
  }
}

async function* heard(chunks: AsyncIterable<Buffer>, onRead: Input['onRead']): AsyncGenerator<Buffer, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    onRead((bytes += chunk.length));
    yield chunk;
  }
}

async function* headThen(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => rest };
}
