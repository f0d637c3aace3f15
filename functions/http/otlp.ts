// Sends spans to a collector by OTLP/HTTP in JSON: https://opentelemetry.io/docs/specs/otlp/.
// OpenTelemetry's own packages would add 374 KiB to a bundle of 620, and 40 ms to a cold start.
import { setTimeout } from 'node:timers/promises';
import type { TracingConfig } from './tracing.ts';

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A span that has ended. Times are milliseconds since 1970. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: keyof typeof KINDS;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly atMs: number }[];
  /** Why it failed; undefined if it did not. */
  readonly error: string | undefined;
}

const KINDS = { internal: 1, server: 2, client: 3 } as const;

/** Spans that wait, at most: further ones are dropped, and counted. */
const WAITING_MAX = 2_048;
/** A collector that is silent costs no more. */
const SEND_TIMEOUT_MS = 5_000;
/** An instance that ends waits no longer for its collector. */
const LAST_SEND_MS = 2_000;

/** The requests of this process that are not answered yet. */
const underWay = new Set<Promise<void>>();

/** Resolves when the spans that have ended are sent or dropped, after two seconds at most. */
export async function spansSent(): Promise<void> {
  await Promise.race([Promise.all(underWay), setTimeout(LAST_SEND_MS, undefined, { ref: false })]);
}

export class SpanExporter {
  readonly #config: TracingConfig;
  #waiting: EndedSpan[] = [];
  #isSending = false;
  #dropped = 0;

  constructor(config: TracingConfig) {
    this.#config = config;
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(span);
    else this.#dropped += 1;
  }

  /** Sends what waits, one request at a time. Never rejects: what cannot be sent is dropped. */
  async flush(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    const sending = this.#sendAll();
    underWay.add(sending);
    await sending;
    underWay.delete(sending);
  }

  async #sendAll(): Promise<void> {
    let why = `more than ${WAITING_MAX} waited`;
    while (this.#waiting.length > 0) {
      const spans = this.#waiting;
      this.#waiting = [];
      try {
        await this.#send(spans);
      } catch (error) {
        this.#dropped += spans.length;
        why = reasonsOf(error);
      }
    }
    this.#isSending = false;
    if (this.#dropped > 0) this.#report(why);
  }

  async #send(spans: readonly EndedSpan[]): Promise<void> {
    const { endpoint, headers, service } = this.#config;
    const response = await fetch(`${endpoint.replace(/\/$/, '')}/v1/traces`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(payloadOf(service, spans)),
      // The headers hold the collector's key, which no other place is given.
      redirect: 'error',
      signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the collector answers ${response.status}`);
  }

  #report(why: string): void {
    const message = `spans were dropped: ${why}`;
    process.stderr.write(`${JSON.stringify({ severity: 'WARNING', message, dropped: this.#dropped })}\n`);
    this.#dropped = 0;
  }
}

/** `fetch` says why in its error's cause. */
function reasonsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function payloadOf(service: string, spans: readonly EndedSpan[]) {
  const resource = { attributes: attributesOf({ 'service.name': service }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'stowage' }, spans: spans.map(encoded) }] }] };
}

function encoded({ kind, startMs, endMs, attributes, events, error, ...named }: EndedSpan) {
  return {
    ...named,
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: attributesOf({ ...attributes, 'error.type': error }),
    events: events.map(({ name, atMs }) => ({ name, timeUnixNano: nanos(atMs) })),
    status: error === undefined ? {} : { code: 2, message: error },
  };
}

/** Fixed64 stands as text in OTLP's JSON. A double holds microseconds of today, not nanoseconds. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

function attributesOf(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}
