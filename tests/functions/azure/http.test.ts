// Azure's handler under the library's own HTTP proxy. That a caller's hanging up ends its request,
// and that targets come as they arrived, shows on the host: tests/infra/hosts/hosts.test.ts.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { HttpRequest, InvocationContext } from '@azure/functions';
import { expect, test, vi } from 'vitest';
import type { Invocation } from '../../../functions/http/app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
import { handlerOf } from '../../../functions/azure/http.ts';
import { listening } from '../../support/listening.ts';

test('the signal of a request whose answer has arrived stays as it is', async () => {
  const { promise: over, resolve, reject } = Promise.withResolvers<AbortSignal>();
  const server = createServer((_incoming, outgoing) => {
    const fetch = async ({ signal }: Request) => {
      outgoing.end('done');
      await once(outgoing, 'close');
      resolve(signal);
      return new Response('');
    };
    const sent = { method: 'GET', url: 'http://localhost/', headers: new Headers(), body: null };
    const context = { invocationId: 'two' } as unknown as InvocationContext;
    Promise.resolve(handlerOf({ fetch })(sent as unknown as HttpRequest, context)).catch(reject);
  });
  const port = await listening(server);
  request({ port, host: '127.0.0.1', headers: { 'x-ms-invocation-id': 'two' } })
    .on('error', () => {})
    .end();
  expect((await over).aborted).toBe(false);
  server.close();
});

test('lines are logged by their level, and late ones where the host reads warnings and errors', async () => {
  const told: string[] = [];
  const take = (level: string) => (text: string) => void told.push(`${level} ${(JSON.parse(text) as LogLine).status}`);
  let log: Invocation['log'];
  const app = {
    fetch: async (_request: Request, invocation: Invocation = {}) => {
      log = invocation.log;
      for (const [severity, status] of [
        ['INFO', 200],
        ['WARNING', 429],
        ['ERROR', 503],
      ] as const)
        log?.({ severity, status } as LogLine);
      return new Response('');
    },
  };
  const sent = { method: 'GET', url: 'http://localhost/', headers: new Headers(), body: null };
  const context = { invocationId: 'five', log: take('log'), warn: take('warn'), error: take('error') };
  await handlerOf(app)(sent as unknown as HttpRequest, context as unknown as InvocationContext);
  expect(told.splice(0)).toEqual(['log 200', 'warn 429', 'error 503']);
  const late = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    take('stderr')(String(text));
    return true;
  });
  log?.({ severity: 'ERROR', status: 200 } as LogLine);
  late.mockRestore();
  expect(told).toEqual(['stderr 200']);
});
