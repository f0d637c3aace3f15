// Azure's side of the functions: its handler under the library's own HTTP proxy, its environment,
// and the token of its identity. That a caller's hanging up ends its request, and that targets come
// as they arrived, shows on the host: tests/infra/hosts/hosts.test.ts.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { HttpRequest, HttpResponseInit, InvocationContext } from '@azure/functions';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { handlerOf } from '../../../functions/azure/azure-http.ts';
import { managedIdentity } from '../../../functions/azure/platform.ts';
import type { Invocation } from '../../../functions/http/http-app.ts';
import type { LogLine } from '../../../functions/http/log.ts';
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

/** Answers with the first three chunks, which it reads once the platform has the answer. */
async function echo({ body }: Request): Promise<Response> {
  const chunks = body!.values({ preventCancel: true });
  async function* echoed() {
    for (let count = 0; count < 3; count += 1) {
      await setImmediate();
      yield (await chunks.next()).value!;
    }
  }
  return new Response(ReadableStream.from(echoed()));
}

test('an answer that streams has all of the body that it reads, and what it leaves is drained behind it', async () => {
  let read = 0;
  const pieces = (count: number) =>
    ReadableStream.from(
      (async function* () {
        for (; read < count; read += 1) yield Buffer.from(`${read} `);
      })(),
    );
  const sent = { method: 'POST', url: 'http://localhost/', headers: new Headers(), body: pieces(9) };
  const context = { invocationId: 'six' } as unknown as InvocationContext;
  const { body } = (await handlerOf({ fetch: echo })(sent as unknown as HttpRequest, context)) as HttpResponseInit;
  expect(await new Response(body as ReadableStream<Uint8Array>).text()).toBe('0 1 2 ');
  await expect.poll(() => read).toBe(9);
});

afterEach(() => vi.unstubAllEnvs());

const KEY = 'wrong environment: STOWAGE_TABLES_KEY: expected an access key of the account, in base64';

test.each([
  ['STOWAGE_TABLES_KEY', 'secret!', KEY],
  ['STOWAGE_TABLES_KEY', 'AccountName=secret;AccountKey=a2V5', KEY],
  ['STOWAGE_TABLES_KEY', '@Microsoft.KeyVault(SecretUri=https://secret.vault)', KEY],
  // A comparison makes and drops tables of that name.
  ['STOWAGE_TABLES_TABLE', 'StowageComparisonUsers', "STOWAGE_TABLES_TABLE: stowagecomparison... is the comparison's"],
])('%s is refused, and its value not repeated: %s', async (name, value, message) => {
  vi.stubEnv('STOWAGE_AUTH', 'none');
  vi.stubEnv('STOWAGE_TABLES_ENDPOINT', 'https://account.table.core.windows.net');
  vi.stubEnv('STOWAGE_TABLES_ACCOUNT', 'account');
  vi.stubEnv('STOWAGE_TABLES_KEY', 'a2V5');
  vi.stubEnv(name, value);
  vi.resetModules();
  const loading = import('../../../functions/azure/instance.ts');
  await expect(loading).rejects.toThrow(message);
  await expect(loading).rejects.not.toThrow(value);
});

test('the secret of the identity’s endpoint does not follow it to another place', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, outgoing) => {
    asked.push(url?.split('?')[0]);
    outgoing.writeHead(302, { Location: '/elsewhere' }).end();
  });
  const endpoint = `http://127.0.0.1:${await listening(server)}/token`;
  onTestFinished(() => void server.close());
  const identity = managedIdentity({ endpoint, secret: 'secret', clientId: undefined });
  await expect(identity.getToken('https://storage.azure.com/.default')).rejects.toThrow('fetch failed');
  expect(asked).toEqual(['/token']);
});
