// The end of an instance, in a process of its own; and the times of its store.
import { expect, test } from 'vitest';
import { type StoreLatency, withLatencyLogged } from '../../../functions/instance/store-latency.ts';
import type { Driver } from '../../../shared/store/index.ts';
import { runCommand } from '../../infra/cli/run-command.ts';
import { startCollector } from '../../support/collector.ts';
import { closedAfterEach } from '../../support/opened.ts';

const opened = closedAfterEach();
const FUNCTIONS = new URL('../../../functions/', import.meta.url).href;

/** Answers one request, whose caller asks for no trace, and is told to end at once. */
const INSTANCE = `
const { createApp } = await import('${FUNCTIONS}http/http-app.ts');
const { closeOnSigterm, requestTracer } = await import('${FUNCTIONS}instance/lifetime.ts');
const tracer = await requestTracer({ service: 's', tracesAll: true });
const app = createApp({}, { auth: { mode: 'none' }, log() {}, timeoutMs: 1_000, timeoutMaxMs: 1_000, tracer });
closeOnSigterm(async () => {});
const headers = { traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-00' };
await app.fetch(new Request('http://localhost/v1/health', { headers }));
process.emit('SIGTERM');
`;

test('an instance that ends sends the spans that have ended, of all requests where it was told so', async () => {
  const collector = opened(await startCollector());
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const { code, stderr } = await runCommand(['--input-type=module', '-e', INSTANCE], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(collector.spans.map(({ name }) => name)).toEqual(['GET /v1/health']);
});

/** Is told to end during a request: another comes, then the first is answered. */
const BUSY = `
const { createServer } = await import('node:http');
const { frameworkFunction } = await import('${FUNCTIONS}gcp/functions-framework.ts');
const { closeOnSigterm } = await import('${FUNCTIONS}instance/lifetime.ts');
const [arrived, released] = [Promise.withResolvers(), Promise.withResolvers()];
let answered = 0;
const app = {
  fetch: async () => {
    arrived.resolve();
    await released.promise;
    answered += 1;
    return new Response('done');
  },
};
const server = createServer(frameworkFunction(app)).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const get = async () => {
  const response = await fetch('http://127.0.0.1:' + server.address().port);
  console.log(response.status, response.headers.get('Retry-After'), await response.text());
};
let first;
closeOnSigterm(async () => {
  console.log('closes after', answered);
  await first;
});
first = get();
await arrived.promise;
process.emit('SIGTERM');
await get();
released.resolve();
`;

test('an instance that ends answers what is under way before it closes, and refuses what comes', async () => {
  const { code, stdout, stderr } = await runCommand(['--input-type=module', '-e', BUSY]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trim().split('\n').sort();
  expect(lines).toEqual([
    '200 null done',
    expect.stringMatching(/^503 1 .*"code":"unavailable".*"retryable":true/),
    'closes after 1',
  ]);
});

/** A driver whose reads take as long as they are told, on a clock that stands still otherwise. */
function world() {
  let nowMs = 0;
  const lines: StoreLatency[] = [];
  const slow = { limits: {}, read: async () => [], list: () => Promise.reject(new Error('refused')) };
  const driver = withLatencyLogged(
    slow as unknown as Driver,
    (line) => lines.push(line),
    () => nowMs,
  );
  const read = async (tookMs: number): Promise<void> => {
    const answer = driver.read([], { timeoutMs: 1_000 });
    nowMs += tookMs;
    await answer;
  };
  return { lines, read, pass: (ms: number) => (nowMs += ms) };
}

test('the first request that ends after a minute logs the times of all since the last line', async () => {
  const { lines, read, pass } = world();
  for (let at = 0; at < 98; at++) await read(3);
  await read(40);
  expect(lines).toEqual([]);
  pass(60_000);
  await read(7);
  expect(lines).toMatchObject([{ severity: 'INFO', storeRequests: 100, storeP50Ms: 3, storeP99Ms: 7 }]);
  pass(60_000);
  await read(2);
  expect(lines).toMatchObject([{}, { storeRequests: 1, storeP99Ms: 2 }]);
});
