// `@stowage/store/opentelemetry`: makes spans of the calls of all stores in this process, for users
// of an SDK of OpenTelemetry. It reads the store's diagnostics channels and needs only the API.
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import type { OperationTrace, RequestTrace, StoreEvent } from '../store/index.ts';

/** The events that a trace shows. The store's other events are attributes of the call. */
const TOLD: ReadonlySet<string> = new Set<StoreEvent['event']>([
  'conflicts',
  'unknownOutcomes',
  'splits',
  'merges',
  'throttled',
  'repairs',
]);

/**
 * From now on makes a span of each call, within the active span, and of each request that is sent
 * for it, but not of requests in the background. Spans have no keys or values. Default: the tracer
 * of the registered SDK. Returns a function that stops it.
 *
 * @example
 * const stop = traceStores();
 */
export function traceStores(tracer: Tracer = trace.getTracer('@stowage/store')): () => void {
  const spans = new WeakMap<object, Span>();
  const calls = following('stowage:operation', spans, ({ operation, table }: OperationTrace) =>
    tracer.startSpan(operation, {
      attributes: { 'db.system.name': 'stowage', 'db.operation.name': operation, ...collectionOf(table) },
    }),
  );
  const requests = following('stowage:request', spans, ({ kind, entities, operation }: RequestTrace) => {
    const call = operation && spans.get(operation);
    if (call === undefined) return undefined;
    const options = { kind: SpanKind.CLIENT, attributes: { 'stowage.entities': entities } };
    return tracer.startSpan(`provider ${kind}`, options, trace.setSpan(context.active(), call));
  });
  const note = (message: unknown): void => {
    const { event, operation } = message as StoreEvent;
    if (operation !== undefined && TOLD.has(event)) spans.get(operation)?.addEvent(event);
  };
  const events = channel('stowage:event');
  events.subscribe(note);
  return () => {
    calls();
    requests();
    events.unsubscribe(note);
  };
}

/** Begins and ends a span with each trace. Returns a function that stops it. */
function following(name: string, spans: WeakMap<object, Span>, begin: (trace: never) => Span | undefined): () => void {
  const traces = tracingChannel(name);
  const start = (message: unknown): void => {
    const span = begin(message as never);
    if (span !== undefined) spans.set(message as object, span);
  };
  const asyncEnd = (message: unknown): void => {
    const ended = message as OperationTrace | RequestTrace;
    const span = spans.get(ended)?.setAttributes(figuresOf(ended));
    if (ended.outcome !== 'ok')
      span?.setAttribute('error.type', ended.outcome).setStatus({ code: SpanStatusCode.ERROR, message: ended.outcome });
    span?.end();
  };
  traces.start.subscribe(start);
  traces.asyncEnd.subscribe(asyncEnd);
  return () => {
    traces.start.unsubscribe(start);
    traces.asyncEnd.unsubscribe(asyncEnd);
  };
}

function collectionOf(table: string | undefined): Attributes {
  return table === undefined ? {} : { 'db.collection.name': table };
}

function figuresOf(ended: OperationTrace | RequestTrace): Attributes {
  const bytes = { 'stowage.bytes_read': ended.bytesRead, 'stowage.bytes_written': ended.bytesWritten };
  if (!('requests' in ended)) return bytes;
  const { requests, conflicts, cacheHits } = ended;
  const counts = { 'stowage.requests': requests, 'stowage.conflicts': conflicts, 'stowage.cache_hits': cacheHits };
  return { ...bytes, ...counts };
}
