// Azure's handler under the library's own HTTP proxy: what it learns of a caller that goes.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestListener, type ServerResponse } from 'node:http';
import type { HttpRequest, InvocationContext } from '@azure/functions';
import { expect, test, vi } from 'vitest';
import type { Invocation } from '../../../functions/http/app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
import { handlerOf } from '../../../functions/azure/http.ts';
import { listening } from '../../support/listening.ts';

/** A server as the library runs one in the worker, and one request of the host to it. */
async function invoked(
  invocationId: string,
  serve: (response: ServerResponse, signal: AbortSignal, target: string | undefined) => Promise<void>,
  path = '/',
) {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const answer: RequestListener = (_incoming: IncomingMessage, outgoing: ServerResponse) => {
    const app = {
      fetch: async ({ signal }: Request, { target }: Invocation = {}) => {
        await serve(outgoing, signal, target);
        return new Response('');
      },
    };
    const sent = { method: 'GET', url: 'http://localhost/', headers: new Headers(), body: null };
    const context = { invocationId } as unknown as InvocationContext;
    Promise.resolve(handlerOf(app)(sent as unknown as HttpRequest, context)).then(() => resolve(), reject);
  };
  const server = createServer(answer);
  const port = await listening(server);
  const host = request({ port, path, host: '127.0.0.1', headers: { 'x-ms-invocation-id': invocationId } });
  host.on('error', () => {}).end();
  return { host, over: over.finally(() => server.close()) };
}

test('aborts the signal of a request whose caller hangs up', async () => {
  const started = Promise.withResolvers<void>();
  const { host, over } = await invoked('one', async (_response, signal) => {
    started.resolve();
    await once(signal, 'abort');
  });
  await started.promise;
  host.destroy();
  await expect(over).resolves.toBeUndefined();
});

test('leaves the signal of a request alone whose answer has arrived', async () => {
  let seen: AbortSignal | undefined;
  const { over } = await invoked('two', async (response, signal) => {
    seen = signal;
    response.end('done');
    await once(response, 'close');
  });
  await over;
  expect(seen?.aborted).toBe(false);
});

test('hands over the target of the request as it arrived', async () => {
  let seen: string | undefined;
  const serve = async (response: ServerResponse, _signal: AbortSignal, target: string | undefined) => {
    seen = target;
    response.end('done');
  };
  const { over } = await invoked('three', serve, '/v1/a\\b/../c?d');
  await over;
  expect(seen).toBe('/v1/a\\b/../c?d');
});

test('logs by the level of the line, and late lines where the host reads warnings and errors', async () => {
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
