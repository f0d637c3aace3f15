// The spans that a function sends to a collector. This file follows every store of its process.
import { randomBytes } from 'node:crypto';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { LogLine } from '../../../functions/http/log.ts';
import { startSpans } from '../../../functions/instance/trace-exporter.ts';
import { memoryDriver } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { attributesOf, startCollector } from '../../support/collector.ts';
import { served } from '../records/served.ts';
import { BYTES, JSON_TYPE } from '../suite/http-client.ts';

const TRACE = '0123456789abcdef0123456789abcdef';
const PARENT = '0123456789abcdef';

const collector = await startCollector();
vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.endpoint);
vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-token=a%20b');
const tracer = startSpans({ service: 'records', tracesAll: false });
const lines: LogLine[] = [];
const store = openStore({ driver: memoryDriver() });
const client = served(store, {}, (line) => void lines.push(line), tracer);
await client.put('/v1/tables/users', JSON_TYPE, '{"order":"key"}');

afterAll(async () => {
  vi.unstubAllEnvs();
  await store.close();
  collector.close();
});

/** The newest span of this name, and those below it. */
async function collected(name: string) {
  await tracer.flush();
  const span = collector.spans.findLast((each) => each.name === name)!;
  return { span, below: collector.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId) };
}

test('a request is a span in its caller’s trace, with the store’s calls below it', async () => {
  await client.put('/v1/tables/users/records/lovelace', JSON_TYPE, '1', { traceparent: `00-${TRACE}-${PARENT}-01` });
  const { span, below } = await collected('PUT /v1/tables/:table/records/:key');
  expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2 });
  expect(attributesOf(span)).toMatchObject({ 'http.response.status_code': 204 });
  // The first request for a table opens it.
  expect(below.map(({ name }) => name)).toEqual(['table', 'put']);
  expect(lines.at(-1)?.traceparent).toBe(`00-${TRACE}-${span.spanId}-01`);
  expect(JSON.stringify(collector.spans)).not.toContain('lovelace');
  expect(collector.requests[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-token': 'a b' } });
});

test('the leaves of a stream belong to its request, though the connection pulls them', async () => {
  for (const key of ['a', 'b', 'c', 'd'])
    await client.put(`/v1/tables/users/records/${key}`, BYTES, randomBytes(400_000));
  await (await client.admin('/v1/tables/users/records', { headers: { Accept: 'application/x-ndjson' } })).text();
  const { below } = await collected('GET /v1/tables/:table/records');
  expect(below.filter(({ name }) => name === 'scan').length).toBeGreaterThan(1);
});

test('a caller that asks for no trace gets none, and its own context is logged', async () => {
  const traceparent = `00-${TRACE}-${PARENT}-00`;
  const before = collector.spans.length;
  await client.admin('/v1/tables', { headers: { traceparent } });
  expect(lines.at(-1)?.traceparent).toBe(traceparent);
  await tracer.flush();
  expect(collector.spans.length).toBe(before);
});

test('what a collector refuses is dropped, and said', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => said.mockRestore());
  collector.status = 307;
  await client.admin('/v1/health');
  await tracer.flush();
  collector.status = 200;
  expect(JSON.parse(String(said.mock.calls[0]?.[0]))).toEqual({
    severity: 'WARNING',
    message: 'spans: OTLPExporterError: Temporary Redirect',
  });
  expect(collector.requests.map(({ url }) => url)).not.toContain('/elsewhere');
});
