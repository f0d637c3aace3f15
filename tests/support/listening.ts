// A test's own server on a free port of this machine.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Gives the port on 127.0.0.1 at which the server listens from now on. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
