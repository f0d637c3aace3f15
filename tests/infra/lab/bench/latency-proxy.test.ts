// The proxy delays a server's replies, as distance would.
import { once } from 'node:events';
import net from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { startLatencyProxy } from '../../../../infra/lab/bench/latency-proxy.ts';
import { listening } from '../../../support/listening.ts';

/** A server that sends back what it gets, the proxy before it, and a connection through it. */
async function farEcho(rttMs: number) {
  const server = net.createServer((socket) => socket.on('error', () => undefined).pipe(socket));
  const proxy = await startLatencyProxy(await listening(server), rttMs);
  const socket = net.connect(proxy.port, '127.0.0.1');
  onTestFinished(async () => {
    socket.destroy();
    await proxy.close();
    server.close();
  });
  return { proxy, socket };
}

test('through the proxy everything arrives, in order, no sooner than a round trip later', async () => {
  const { socket } = await farEcho(40);
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
  const { proxy, socket } = await farEcho(10);
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  await proxy.close();
  await closed;
  expect(socket.destroyed).toBe(true);
});
