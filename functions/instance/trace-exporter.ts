// Sends spans of requests and of the store's calls to a collector, by OpenTelemetry's SDK. An
// instance loads this file only if a collector is named.
import { setTimeout as delay } from 'node:timers/promises';
import { context, diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { traceStores } from '../../shared/adapters/opentelemetry.ts';
import type { RequestTracer } from '../http/log.ts';
import type { TracingConfig } from './config.ts';

/** How often spans are sent. An instance that was frozen sends them when it wakes. */
const SEND_EVERY_MS = 1_000;
/** The longest wait for the collector when an instance ends. */
const FLUSH_TIMEOUT_MS = 2_000;

export interface SpanSender extends RequestTracer {
  /** Resolves when the spans that have ended are sent, after two seconds at most. */
  flush(): Promise<void>;
}

/** Traces all stores of this process from now on. The exporter reads `OTEL_EXPORTER_OTLP_...`. */
export function startSpans({ service, tracesAll }: TracingConfig): SpanSender {
  diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new OTLPTraceExporter();
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': service })),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: SEND_EVERY_MS })],
    ...(tracesAll ? { sampler: new AlwaysOnSampler() } : {}),
  });
  const tracer = provider.getTracer('stowage');
  traceStores(tracer);
  return {
    begin(name, traceparent) {
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, contextOf(traceparent));
      const within = trace.setSpan(ROOT_CONTEXT, span);
      const { traceId, spanId } = span.spanContext();
      return {
        traceparent: span.isRecording() ? `00-${traceId}-${spanId}-01` : undefined,
        within: (work) => context.with(within, work),
        end(attributes, error) {
          span.setAttributes(attributes);
          if (error !== undefined)
            span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR, message: error });
          span.end();
        },
      };
    },
    async flush() {
      const sent = provider
        .forceFlush()
        .then(() => exporter.forceFlush())
        .catch((reasons: unknown) => warn(String(reasons)));
      await Promise.race([sent, delay(FLUSH_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}

function contextOf(traceparent: string | undefined) {
  if (traceparent === undefined) return ROOT_CONTEXT;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const caller = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, caller);
}

function warn(message: string): void {
  process.stderr.write(`${JSON.stringify({ severity: 'WARNING', message: `spans: ${message}` })}\n`);
}
