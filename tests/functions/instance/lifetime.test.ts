// The end of an instance, in a process of its own.
import { expect, test } from 'vitest';
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
