// Sends a stream of lines. It was cut off unless its last line is `end` or `error`.
import { AsyncLocalStorage } from 'node:async_hooks';
import { CACHING } from '../http/headers.ts';
import { type Problem, toProblem } from '../http/problem.ts';
import type { Call } from '../http/route.ts';

/** Lines are sent in chunks of about this size. */
const CHUNK_BYTES = 64 * 1024;

export const NDJSON = 'application/x-ndjson';

export type Reading = Awaited<ReturnType<typeof begun>>;

/** The items of a stream. A scan also has a cursor. */
interface Given<T> extends AsyncIterable<T> {
  readonly cursor?: string | undefined;
}

/** Fetches the first item, so that an early error still gets a status of its own. */
export async function begun<T>(given: Given<T>, textOf: (item: T) => string) {
  const iterator: AsyncIterator<T> = given[Symbol.asyncIterator]();
  // The connection pulls the stream, but the work belongs to the request.
  const forRequest = AsyncLocalStorage.snapshot();
  let ahead: IteratorResult<T, unknown> | undefined = await iterator.next();
  return {
    /** The next item as JSON text, undefined at the end. */
    async next(): Promise<string | undefined> {
      const result = ahead ?? (await forRequest(() => iterator.next()));
      ahead = undefined;
      return result.done === true ? undefined : textOf(result.value);
    },
    /** Goes on after the last item that was given; undefined if none is left. */
    cursor: () => given.cursor,
    async stop() {
      await iterator.return?.();
    },
  };
}

/** The answer with all items, one per line. */
export function streamed(reading: Reading, call: Pick<Call, 'endsWith'>): Response {
  const { promise: ended, resolve: end } = Promise.withResolvers<Problem | undefined>();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { text, last, problem } = await chunkText(reading);
        controller.enqueue(Buffer.from(text));
        if (!last) return;
        controller.close();
        end(problem);
      },
      async cancel() {
        end(undefined);
        await reading.stop();
      },
    },
    { highWaterMark: 1 },
  );
  call.endsWith(ended);
  return new Response(stream, { headers: { 'Content-Type': NDJSON, ...CACHING } });
}

async function chunkText(reading: Reading): Promise<{ text: string; last: boolean; problem?: Problem }> {
  let text = '';
  try {
    while (text.length < CHUNK_BYTES) {
      const item = await reading.next();
      if (item === undefined) return { text: `${text}${lineOf({ end: true, cursor: reading.cursor() })}`, last: true };
      // In JSON a line break can only be white space, never a part of a string.
      text += `${item.replaceAll(/[\r\n]+/g, ' ')}\n`;
    }
    return { text, last: false };
  } catch (error) {
    const problem = toProblem(error);
    return { text: `${text}${lineOf({ error: problem.body(), cursor: reading.cursor() })}`, last: true, problem };
  }
}

function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
