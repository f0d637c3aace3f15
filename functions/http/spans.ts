// The spans of a request: itself, the store's calls within, and their requests to the provider.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { channel, tracingChannel, type TracingChannel } from 'node:diagnostics_channel';
import type { OperationTrace, RequestTrace, StoreEvent } from '../../shared/store/index.ts';
import { type Attributes, type EndedSpan, SpanExporter } from './otlp.ts';
import type { TracingConfig } from './tracing.ts';

/** A span under way. */
export interface Span extends Pick<EndedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'kind' | 'startMs'> {
  readonly events: { readonly name: string; readonly atMs: number }[];
}

/** The store's events that a reader of a trace looks for; the others are the call's figures. */
const TOLD: ReadonlySet<string> = new Set<StoreEvent['event']>([
  'conflicts',
  'unknownOutcomes',
  'splits',
  'merges',
  'throttled',
  'repairs',
]);
/** Bounds the memory of a call that meets trouble for minutes. */
const EVENTS_MAX = 32;

const SAMPLED = 1;

export class Tracer {
  readonly #config: TracingConfig;
  readonly #exporter: SpanExporter;
  readonly #request = new AsyncLocalStorage<Span | undefined>();
  /** By the store's own trace of a call or request. */
  readonly #spans = new WeakMap<object, Span>();

  /** Follows the store from now on. */
  constructor(config: TracingConfig) {
    this.#config = config;
    this.#exporter = new SpanExporter(config);
    this.#follow(tracingChannel<string, OperationTrace>('stowage:operation'), (trace) => ({
      parent: this.#request.getStore(),
      name: trace.operation,
      kind: 'internal',
      attributes: () => ({
        'db.system.name': 'stowage',
        'db.operation.name': trace.operation,
        'db.collection.name': trace.table,
        'stowage.requests': trace.requests,
        'stowage.conflicts': trace.conflicts,
        'stowage.cache_hits': trace.cacheHits,
        ...bytesOf(trace),
      }),
    }));
    this.#follow(tracingChannel<string, RequestTrace>('stowage:request'), (trace) => ({
      parent: trace.operation && this.#spans.get(trace.operation),
      name: `provider ${trace.kind}`,
      kind: 'client',
      attributes: () => ({ 'stowage.entities': trace.entities, ...bytesOf(trace) }),
    }));
    channel('stowage:event').subscribe((message) => this.#note(message as StoreEvent));
  }

  /** The span of a request, within its caller's; undefined if that is not sampled. */
  begin(name: string, traceparent: string | undefined): Span | undefined {
    const [, traceId = randomBytes(16).toString('hex'), parentSpanId, flags] = traceparent?.split('-') ?? [];
    const isSampled = flags === undefined || (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
    if (!isSampled && !this.#config.tracesAll) return undefined;
    return spanOf({ traceId, parentSpanId, name, kind: 'server' });
  }

  /** The store's calls in `work` are within the span. */
  within<T>(span: Span | undefined, work: () => T): T {
    return this.#request.run(span, work);
  }

  /** Ends the request's span, and sends what has ended: nobody waits for that. */
  end(span: Span | undefined, attributes: Attributes, error: string | undefined): void {
    if (span === undefined) return;
    this.#finish(span, attributes, error);
    void this.#exporter.flush();
  }

  #finish(span: Span, attributes: Attributes, error: string | undefined): void {
    this.#exporter.add({ ...span, endMs: nowMs(), attributes, error });
  }

  /** One span from a trace's start to its end, if it is within another. */
  #follow<T extends OperationTrace | RequestTrace>(
    { start, asyncEnd }: TracingChannel<string, T>,
    told: (trace: T) => Pick<Span, 'name' | 'kind'> & {
      readonly parent: Span | undefined;
      readonly attributes: () => Attributes;
    },
  ): void {
    start.subscribe((message) => {
      const trace = message as T;
      const { parent, name, kind } = told(trace);
      if (parent === undefined) return;
      const { traceId, spanId: parentSpanId } = parent;
      this.#spans.set(trace, spanOf({ traceId, parentSpanId, name, kind }));
    });
    asyncEnd.subscribe((message) => {
      const trace = message as T;
      const span = this.#spans.get(trace);
      const error = trace.outcome === 'ok' ? undefined : trace.outcome;
      if (span !== undefined) this.#finish(span, told(trace).attributes(), error);
    });
  }

  #note({ event, operation }: StoreEvent): void {
    const span = operation && this.#spans.get(operation);
    if (span === undefined || !TOLD.has(event) || span.events.length === EVENTS_MAX) return;
    span.events.push({ name: event, atMs: nowMs() });
  }
}

/** The trace context by which a log line, or another process, names the span. */
export function traceparentOf({ traceId, spanId }: Span): string {
  return `00-${traceId}-${spanId}-01`;
}

function spanOf(named: Pick<Span, 'traceId' | 'parentSpanId' | 'name' | 'kind'>): Span {
  return { ...named, spanId: randomBytes(8).toString('hex'), startMs: nowMs(), events: [] };
}

function bytesOf({ bytesRead, bytesWritten }: OperationTrace | RequestTrace): Attributes {
  return { 'stowage.bytes_read': bytesRead, 'stowage.bytes_written': bytesWritten };
}

/** The wall clock would do: this one tells microseconds apart. */
function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
