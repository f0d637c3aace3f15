// The benchmark's own parts: its command line, the proxy that makes a server look far, and the work that is done from source and as a bundle.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bundleStatement } from '../../../../infra/lab/bench/bundled.ts';
import { startLatencyProxy } from '../../../../infra/lab/bench/latency-proxy.ts';

const ENTRY = fileURLToPath(new URL('../../../../infra/run.mjs', import.meta.url));

async function bench(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return {
      code: 0,
      ...(await promisify(execFile)(process.execPath, [ENTRY, 'bench', ...args], { timeout: 100_000 })),
    };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

test.each([
  [['--rtt', 'far'], '--rtt is from 0 to 1000 ms, not far'],
  [['--rtt', '-1'], '--rtt'],
  [['--fast'], "Unknown option '--fast'"],
])('%j is refused before anything starts', async (args, message) => {
  const { code, stdout, stderr } = await bench(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).toContain('npm run bench -- --help');
  expect(stdout).toBe('');
});

/** A server that sends back what it gets, and the proxy before it. */
async function farEcho(rttMs: number): Promise<number> {
  const server = net.createServer((socket) => socket.pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startLatencyProxy((server.address() as net.AddressInfo).port, rttMs);
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startLatencyProxy((server.address() as net.AddressInfo).port, 10);
  const socket = net.connect(proxy.port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  await proxy.close();
  await closed;
  server.close();
  expect(socket.destroyed).toBe(true);
});

test('the engine runs as a bundle, and its rate is told beside that from source', async () => {
  const { value } = await bundleStatement(1, new AbortController().signal);
  expect(value).toMatch(/^[\d,]+ against [\d,]+, ratio \d+\.\d\d$/);
});
