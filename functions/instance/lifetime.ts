// Makes things at their first use, and closes them when the platform ends the instance.
import { setTimeout as delay } from 'node:timers/promises';
import type { TracingConfig } from './config.ts';
import type { SpanSender } from './trace-exporter.ts';

/** Makes the thing at the first call. A failure is forgotten: the next call tries again. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

let spans: SpanSender | undefined;

/** Makes spans of this instance's requests. Without a collector it loads nothing: undefined. */
export async function requestTracer(tracing: TracingConfig | undefined): Promise<SpanSender | undefined> {
  if (tracing === undefined) return undefined;
  const { startSpans } = await import('./trace-exporter.ts');
  spans ??= startSpans(tracing);
  return spans;
}

/** Calls `close`, which ends the last spans, and waits until they are sent. */
export async function closeWithSpans(close: () => Promise<void>): Promise<void> {
  try {
    await close();
  } finally {
    await spans?.flush();
  }
}

/** Platforms wait ten seconds from SIGTERM to SIGKILL. Closing takes five at most, spans two. */
const CLOSE_TIMEOUT_MS = 8_000;
/** The wait for requests before the store closes, which then waits for their calls again. */
const REQUESTS_TIMEOUT_MS = 2_000;
const LOOK_EVERY_MS = 10;

let isEnding = false;
const requests = { underWay: 0 };

/** Call the result once, when the request was answered. Undefined: the instance ends, refuse it. */
export function takeRequest(): (() => void) | undefined {
  if (isEnding) return undefined;
  requests.underWay += 1;
  return () => void (requests.underWay -= 1);
}

async function requestsAnswered(): Promise<void> {
  const untilMs = performance.now() + REQUESTS_TIMEOUT_MS;
  while (requests.underWay > 0 && performance.now() < untilMs) await delay(LOOK_EVERY_MS);
}

const closing: (() => Promise<void>)[] = [];

/**
 * At SIGTERM, refuses further requests, answers those under way, then calls every `close`. Removes
 * the listener of the functions-framework, which would exit at once: call this after it was added.
 */
export function closeOnSigterm(close: () => Promise<void>): void {
  closing.push(close);
  process.removeAllListeners('SIGTERM');
  process.once('SIGTERM', () => {
    isEnding = true;
    setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref();
    closeWithSpans(async () => {
      await requestsAnswered();
      await Promise.all(closing.map((close) => close()));
    }).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
