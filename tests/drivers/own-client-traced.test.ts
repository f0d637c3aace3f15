// An example: an existing Datastore client with OpenTelemetry's gRPC instrumentation. The driver's
// requests appear among its spans.
import { type Span, trace, type Tracer, type TracerProvider } from '@opentelemetry/api';
import { GrpcInstrumentation } from '@opentelemetry/instrumentation-grpc';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbeddedDatastore } from '../../infra/emulators/embedded.ts';
import { datastoreDriver } from '../../shared/drivers/datastore.ts';
import { openStore } from '../../shared/store/index.ts';

const spans: string[] = [];
const SPAN = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 });
const tracer = {
  startSpan: (name: string): Span => {
    spans.push(name);
    return SPAN;
  },
} as unknown as Tracer;
const provider: TracerProvider = { getTracer: () => tracer };

test('an instrumented Datastore client carries the store, span by span', async () => {
  // In another process: here it would load what is to be instrumented.
  const emulator = await startEmbeddedDatastore({ inProcess: false });
  onTestFinished(() => emulator.close());
  // Before the client is loaded, as with every instrumentation.
  const instrumentation = new GrpcInstrumentation();
  instrumentation.setTracerProvider(provider);
  const { Datastore } = await import('@google-cloud/datastore');
  const client = new Datastore({ projectId: 'traced', apiEndpoint: emulator.endpoint });

  await using store = openStore({ driver: datastoreDriver({ client }) });
  const table = await store.table<number>('t');
  await table.put('a', 1);
  expect(await table.get('a')).toMatchObject({ value: 1 });

  instrumentation.disable();
  expect(new Set(spans)).toEqual(
    new Set(['Lookup', 'Commit'].map((method) => `grpc.google.datastore.v1.Datastore/${method}`)),
  );
});
