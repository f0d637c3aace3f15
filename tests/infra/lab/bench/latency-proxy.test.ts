// The proxy delays a server's replies, as distance would.
import { once } from 'node:events';
import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startLatencyProxy } from '../../../../infra/lab/bench/latency-proxy.ts';
import { listening } from '../../../support/listening.ts';

/** A server that sends back what it gets, and the proxy before it. */
async function farEcho(rttMs: number): Promise<number> {
  const server = net.createServer((socket) => socket.pipe(socket));
  const proxy = await startLatencyProxy(await listening(server), rttMs);
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  return proxy.port;
}

test('through the proxy everything arrives, in order, no sooner than a round trip later', async () => {
  const socket = net.connect(await farEcho(40), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const sent = Array.from({ length: 200 }, (_, number) => `chunk ${number};`.repeat(50)).join('');
  const begunMs = performance.now();
  for (let at = 0; at < sent.length; at += 5_000) socket.write(sent.slice(at, at + 5_000));
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (received.length >= sent.length) break;
  }
  expect(received).toBe(sent);
  expect(performance.now() - begunMs).toBeGreaterThanOrEqual(39);
});

test('a proxy that is closed ends its connections', async () => {
  const server = net.createServer((socket) => void socket.on('error', () => undefined));
  const proxy = await startLatencyProxy(await listening(server), 10);
  const socket = net.connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  await proxy.close();
  await closed;
  server.close();
  expect(socket.destroyed).toBe(true);
});
