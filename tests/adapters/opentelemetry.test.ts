// The store's calls as spans of an SDK of OpenTelemetry that a program has registered.
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, afterEach, expect, test } from 'vitest';
import { traceStores } from '../../shared/adapters/opentelemetry.ts';
import { memoryDriver, type MemoryFault } from '../../shared/drivers/memory.ts';
import { openStore } from '../../shared/store/index.ts';
import { closedAfterEach } from '../support/opened.ts';

const opened = closedAfterEach();
const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const stop = traceStores();
afterEach(() => exporter.reset());
afterAll(() => {
  stop();
  trace.disable();
  context.disable();
});

const spanOf = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);

async function table(faults: () => MemoryFault | undefined = () => undefined) {
  const store = opened(openStore({ driver: memoryDriver({ faults }) }));
  const users = await store.table<string>('users');
  exporter.reset();
  return users;
}

test('a call is a span within the active one, and its request a span within the call', async () => {
  const users = await table();
  const tracer = provider.getTracer('the program');
  await tracer.startActiveSpan('the program', async (span) => {
    await users.put('lovelace', 'countess');
    span.end();
  });
  const [own, call, request] = [spanOf('the program'), spanOf('put'), spanOf('provider write')];
  expect(call?.parentSpanContext?.spanId).toBe(own?.spanContext().spanId);
  expect(call?.attributes).toMatchObject({
    'db.system.name': 'stowage',
    'db.operation.name': 'put',
    'db.collection.name': 'users',
    'stowage.requests': 1,
    'stowage.conflicts': 0,
  });
  expect(request).toMatchObject({ kind: SpanKind.CLIENT, attributes: { 'stowage.entities': 1 } });
  expect(request?.parentSpanContext?.spanId).toBe(call?.spanContext().spanId);
  expect(request?.attributes['stowage.bytes_written']).toBe(call?.attributes['stowage.bytes_written']);
  const told = exporter.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events }));
  expect(JSON.stringify(told)).not.toMatch(/lovelace|countess/);
});

test('a call that fails has the code of its error, and what it met is an event', async () => {
  let fault: MemoryFault | undefined;
  const users = await table(() => {
    const once = fault;
    fault = undefined;
    return once;
  });
  await users.put('ada', 'a');
  fault = { refuse: 'throttled' };
  await users.put('ada', 'b');
  const events = exporter.getFinishedSpans().flatMap((span) => span.events.map(({ name }) => `${span.name} ${name}`));
  expect(events).toEqual(['put throttled']);
  await expect(users.put('ada', 'c', { ifAbsent: true })).rejects.toMatchObject({ code: 'conflict' });
  const refused = exporter.getFinishedSpans().filter(({ attributes }) => attributes['error.type'] === 'conflict');
  expect(refused).toMatchObject([{ name: 'put', status: { code: SpanStatusCode.ERROR, message: 'conflict' } }]);
});

test('a bridge that was stopped makes no more spans', async () => {
  const users = await table();
  const own = new InMemorySpanExporter();
  const second = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: own })] });
  const end = traceStores(second.getTracer('second'));
  await users.put('ada', 'a');
  expect(own.getFinishedSpans().map(({ name }) => name)).toContain('put');
  own.reset();
  end();
  await users.put('ada', 'b');
  expect(own.getFinishedSpans()).toEqual([]);
});
