// A TCP proxy that makes a near server look far: every chunk, in both directions, is passed on half
// a round trip later, in order.
import { once } from 'node:events';
import net from 'node:net';

export interface LatencyProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** Forwards to `port` of 127.0.0.1, from a free one. */
export async function startLatencyProxy(port: number, rttMs: number): Promise<LatencyProxy> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((near) => {
    const far = net.connect({ host: '127.0.0.1', port });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      // One side's failure ends the other; each hears of its own by `close`.
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from));
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), rttMs / 2));
      from.on('end', () => setTimeout(() => to.end(), rttMs / 2));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { port: (server.address() as net.AddressInfo).port, close };
}
