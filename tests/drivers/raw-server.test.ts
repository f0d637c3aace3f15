// The server of the tests counts its own requests, and none that a server before it was meant for.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { closedAfterEach } from '../support/opened.ts';
import { azureText, rawServer } from './raw-server.ts';

const opened = closedAfterEach();

/** The answer to these bytes, up to the end of the connection. */
async function answered(bytes: string): Promise<{ readonly text: string; readonly requests: number }> {
  const server = opened(await rawServer(({ socket }) => socket.end(azureText(204, {}))));
  const socket = connect(server.port, '127.0.0.1')
    .setEncoding('latin1')
    .on('error', () => {});
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return { text, requests: server.requests.length };
}

test.each([
  ["gRPC's preface", 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ["a path of Azurite's account", 'GET /devstoreaccount1/stowage HTTP/1.1\r\n\r\n'],
])('%s is cut off, and not counted', async (_, bytes) => {
  expect(await answered(bytes)).toEqual({ text: '', requests: 0 });
});

test('any other request is counted and answered', async () => {
  const { text, requests } = await answered('GET /stowage HTTP/1.1\r\n\r\n');
  expect([text.slice(0, 12), requests]).toEqual(['HTTP/1.1 204', 1]);
});
