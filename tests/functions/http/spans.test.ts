// The spans that a function sends to a collector.
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import type { LogLine } from '../../../functions/http/log.ts';
import { SpanExporter } from '../../../functions/http/otlp.ts';
import { memoryDriver, type MemoryFault } from '../../../shared/drivers/memory.ts';
import { openStore } from '../../../shared/store/index.ts';
import { attributesOf, type CollectedSpan, type Collector, startCollector } from '../../support/collector.ts';
import { closedAfterEach } from '../../support/opened.ts';
import { served } from '../records/served.ts';
import { BYTES, JSON_TYPE } from '../suite/client.ts';

const opened = closedAfterEach();
afterEach(() => void vi.restoreAllMocks());

const TRACE = '0123456789abcdef0123456789abcdef';
const PARENT = '0123456789abcdef';

async function traced(env: Record<string, string> = {}, fault?: () => MemoryFault | undefined) {
  const collector = opened(await startCollector());
  const lines: LogLine[] = [];
  const store = opened(openStore({ driver: memoryDriver(fault === undefined ? {} : { faults: fault }) }));
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, ...env };
  return { collector, lines, client: served(store, environment, (line) => void lines.push(line)) };
}

/** The spans below one, by name; waits until that has come. */
async function collected({ spans }: Collector, name: string): Promise<{ span: CollectedSpan; below: CollectedSpan[] }> {
  await expect.poll(() => spans.map((span) => span.name)).toContain(name);
  const span = spans.find((each) => each.name === name)!;
  return { span, below: spans.filter(({ parentSpanId }) => parentSpanId === span.spanId) };
}

test('a request’s span goes on in its caller’s trace; calls of the store and their requests are below', async () => {
  const { collector, lines, client } = await traced();
  await client.put('/v1/tables/users', JSON_TYPE, '{}');
  await client.admin('/v1/tables/users/records/lovelace');
  await client.put('/v1/tables/users/records/lovelace', JSON_TYPE, '1', { traceparent: `00-${TRACE}-${PARENT}-01` });
  const put = await collected(collector, 'PUT /v1/tables/:table/records/:key');
  expect(put.span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2, status: {} });
  expect(attributesOf(put.span)).toMatchObject({ 'http.response.status_code': '204' });
  const [call] = put.below;
  expect(put.below.map(({ name }) => name)).toEqual(['put']);
  expect(attributesOf(call!)).toMatchObject({ 'db.collection.name': 'users', 'stowage.requests': '1' });
  const sent = await collected(collector, 'put');
  expect(sent.below).toMatchObject([{ traceId: TRACE, name: 'provider write', kind: 3 }]);
  for (const inner of sent.below) {
    expect(BigInt(inner.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(put.span.startTimeUnixNano));
    expect(BigInt(inner.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(put.span.endTimeUnixNano));
  }
  expect(JSON.stringify(collector.spans)).not.toContain('lovelace');
  expect(lines.at(-1)?.traceparent).toBe(`00-${TRACE}-${put.span.spanId}-01`);
});

test('the leaves of a stream belong to its request, though the connection pulls them', async () => {
  const { collector, client } = await traced();
  await client.put('/v1/tables/users', JSON_TYPE, '{"order":"key"}');
  for (const key of ['a', 'b', 'c', 'd'])
    await client.put(`/v1/tables/users/records/${key}`, BYTES, randomBytes(400_000));
  await (await client.admin('/v1/tables/users/records', { headers: { Accept: 'application/x-ndjson' } })).text();
  const { below } = await collected(collector, 'GET /v1/tables/:table/records');
  expect(below.filter(({ name }) => name === 'scan').length).toBeGreaterThan(1);
});

test('a caller that asks for no trace gets none, but by `always_on`', async () => {
  const unsampled = { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } };
  const { collector, client, lines } = await traced();
  await client.admin('/v1/tables', unsampled);
  await client.admin('/v1/health');
  await collected(collector, 'GET /v1/health');
  expect(collector.spans.map(({ name }) => name)).toEqual(['GET /v1/health']);
  expect(lines[0]?.traceparent).toBe(unsampled.headers.traceparent);
  const always = await traced({ OTEL_TRACES_SAMPLER: 'always_on' });
  await always.client.admin('/v1/tables', unsampled);
  expect((await collected(always.collector, 'GET /v1/tables')).span.traceId).toBe(TRACE);
});

test('a failure names its code, and a call what it met', async () => {
  let faults: MemoryFault[] = [];
  const { collector, client } = await traced({}, () => faults.shift());
  await client.put('/v1/tables/users', JSON_TYPE, '{}');
  await client.admin('/v1/tables/users/records/lovelace');
  faults = [{ refuse: 'denied' }];
  await client.put('/v1/tables/users/records/lovelace', JSON_TYPE, '1');
  const { span, below } = await collected(collector, 'PUT /v1/tables/:table/records/:key');
  expect(span.status).toEqual({ code: 2, message: 'unavailable' });
  expect(below).toMatchObject([{ name: 'put', status: { code: 2, message: 'unavailable' } }]);
  faults = [{ refuse: 'throttled' }];
  await client.put('/v1/tables/users/records/bob', JSON_TYPE, '1');
  await expect
    .poll(() => collector.spans.flatMap(({ events }) => events.map(({ name }) => name)))
    .toContain('throttled');
});

test('spans go out with the headers, and what a collector refuses is dropped, counted and said', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { collector, client } = await traced({ OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20b==,x-team=c' });
  collector.status = 503;
  await client.admin('/v1/health');
  await expect.poll(() => said.mock.calls.length).toBe(1);
  expect(JSON.parse(String(said.mock.calls[0]?.[0]))).toEqual({
    severity: 'WARNING',
    message: 'spans were dropped: the collector answers 503',
    dropped: 1,
  });
  expect(collector.requests[0]).toMatchObject({ url: '/v1/traces', headers: { 'x-token': 'a b==', 'x-team': 'c' } });
});

test('spans and the key of their collector do not follow it to another place', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { collector, client } = await traced({ OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=secret' });
  collector.status = 307;
  await client.admin('/v1/health');
  await expect.poll(() => String(said.mock.calls[0]?.[0])).toContain('spans were dropped');
  expect(collector.requests.map(({ url }) => url)).toEqual(['/v1/traces']);
});

test('a burst beyond the queue’s bound is dropped, counted and said', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { endpoint, spans } = opened(await startCollector());
  const exporter = new SpanExporter({ endpoint, headers: {}, service: 's', tracesAll: false });
  const named = { traceId: TRACE, spanId: PARENT, parentSpanId: undefined, name: 'n', kind: 'server' } as const;
  for (let each = 0; each < 2_050; each += 1)
    exporter.add({ ...named, startMs: 0, endMs: 1, attributes: {}, events: [], error: undefined });
  await exporter.flush();
  expect(spans).toHaveLength(2_048);
  expect(String(said.mock.calls[0]?.[0])).toContain('"spans were dropped: more than 2048 waited","dropped":2');
});
