// The end of an instance, in a process of its own.
import { expect, test } from 'vitest';
import { runCommand } from '../../infra/cli/run-command.ts';
import { startCollector } from '../../support/collector.ts';
import { closedAfterEach } from '../../support/opened.ts';

const opened = closedAfterEach();
const FUNCTIONS = new URL('../../../functions/', import.meta.url).href;

/** Answers one request, and is told to end at once, before its span has left. */
const INSTANCE = `
const { createApp } = await import('${FUNCTIONS}http/app.ts');
const { closeOnSigterm } = await import('${FUNCTIONS}instance/lifetime.ts');
const tracing = { endpoint: process.argv[1], headers: {}, service: 's', tracesAll: false };
const app = createApp([], { auth: { mode: 'none' }, log() {}, timeoutMs: 1_000, timeoutMaxMs: 1_000, tracing });
closeOnSigterm(async () => {});
await app.fetch(new Request('http://localhost/v1/health'));
process.emit('SIGTERM');
`;

test('an instance that ends sends the spans that have ended', async () => {
  const collector = opened(await startCollector());
  const { code, stderr } = await runCommand(['--input-type=module', '-e', INSTANCE, collector.endpoint]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(collector.spans.map(({ name }) => name)).toEqual(['GET /v1/health']);
});
