// The memory of a request is used again only once the request has been written: bytes that changed
// on their way would be another write.
import type { ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { bodySender } from '../../shared/drivers/azure-tables/table-calls.ts';
import { httpClient } from '../../shared/drivers/azure-tables/table-service.ts';
import { RequestMemory } from '../../shared/drivers/common/request-memory.ts';
import { Channel } from '../../shared/drivers/datastore/grpc/channel.ts';
import { listening } from '../support/listening.ts';
import { closedAfterEach } from '../support/opened.ts';
import { nodeServer, replyWith } from './datastore/servers.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const LONG_MS = 60_000;

const opened = closedAfterEach();

test('the pool keeps at most 2 MiB, in pieces of any size', () => {
  const memory = new RequestMemory();
  for (const [bytes, count] of [
    [256 * KIB, 8],
    [400 * KIB, 4],
    [2 * MIB, 1],
    [2 * MIB + 1, 0],
  ] as const) {
    const many = Array.from({ length: 20 }, () => memory.take(bytes));
    for (const one of many) memory.giveBack(one);
    const again = new Set(many.map(() => memory.take(bytes)));
    expect(many.filter((one) => again.has(one))).toHaveLength(count);
  }
});

test('memory that was given back is taken again by requests that fit into it, whatever came back later', () => {
  const memory = new RequestMemory();
  const [large, small] = [memory.take(300 * KIB), memory.take(KIB)];
  expect(memory.take(KIB)).not.toBe(small);
  memory.giveBack(large);
  memory.giveBack(small);
  expect(memory.take(480 * KIB)).toBe(large);
  expect(memory.take(small.length)).toBe(small);
  memory.giveBack(small);
  expect(memory.take(small.length + 1).length).toBeGreaterThan(small.length);
});

test.each([
  ['once the server has read it', 10 * KIB, true, (socket: Socket) => socket.once('data', () => answer(socket))],
  ['not where the server answers before', 64 * MIB, false, (socket: Socket) => answer(socket.pause())],
])('azure tables: the reply tells that the request was written %s', async (_, bytes, expected, serve) => {
  const origin = await originOf(createServer(serve));
  const client = opened(httpClient(origin));
  const request = { method: 'POST', target: '/', headers: [], body: Buffer.alloc(bytes) } as const;
  expect((await client.send(request, performance.now() + LONG_MS)).isRequestWritten).toBe(expected);
});

test('azure tables: memory that is still being sent goes to no other request, be the reply there or not', async () => {
  const sent: Uint8Array[] = [];
  const send = bodySender({
    send: async ({ body = new Uint8Array() }) => {
      const isRequestWritten = sent.length > 1;
      sent.push(body);
      if (sent.length === 2) throw new Error('said by a test');
      return { status: 204, headers: {}, body: Buffer.alloc(0), isRequestWritten };
    },
  });
  const post = (text: string) => send({ method: 'POST', path: '/t', headers: [], body: [text] }, LONG_MS);
  await post('first');
  await expect(post('second')).rejects.toThrow('said by a test');
  await post('third');
  await post('fourth');
  // The third was written, so that the fourth took its memory.
  expect(sent.map((body) => Buffer.from(body).toString().slice(0, 5))).toEqual(['first', 'secon', 'fourt', 'fourt']);
});

describe('datastore: a call tells once all of its message was written', () => {
  test('a call tells so after its reply', async () => {
    const channel = await channelTo((stream) => replyWith(stream, () => Buffer.from([0, 0, 0, 0, 1, 65])));
    const { ended, written } = called(channel, { bytes: 10 * KIB, timeoutMs: LONG_MS });
    expect(String(await ended)).toBe('A');
    await expect.poll(written).toBe(1);
  });

  test('a call tells nothing if its deadline passed while a part of it waited', async () => {
    const closed = Promise.withResolvers<void>();
    let calls = 0;
    const channel = await channelTo((stream) => {
      calls += 1;
      if (calls === 1) refuse(stream);
      else stream.on('close', () => closed.resolve()).on('error', () => {});
    });
    // The connection is there before the time of the call counts.
    await expect(called(channel, { bytes: 1, timeoutMs: LONG_MS }).ended).rejects.toMatchObject({ code: 9 });
    const { ended, written } = called(channel, { bytes: MIB, timeoutMs: 300 });
    await expect(ended).rejects.toThrow('in time');
    await closed.promise;
    expect(written()).toBe(0);
  });

  test('a call tells nothing if it was refused before all of it was sent', async () => {
    const closed = Promise.withResolvers<void>();
    const channel = await channelTo((stream) => refuse(stream.on('close', () => closed.resolve())));
    const { ended, written } = called(channel, { bytes: MIB, timeoutMs: LONG_MS });
    await expect(ended).rejects.toMatchObject({ code: 9 });
    await closed.promise;
    expect(written()).toBe(0);
  });
});

/** Before it has read what the caller sends. */
function refuse(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '9' }, { endStream: true });
}

/** The server's address. It is closed after the test. */
async function originOf(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  opened({ close });
  return `http://127.0.0.1:${await listening(server)}`;
}

function answer(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
}

function called(channel: Channel, { bytes, timeoutMs }: { bytes: number; timeoutMs: number }) {
  let count = 0;
  const message = Buffer.alloc(bytes);
  const ended = channel.unary({ path: '/a.B/C', message, timeoutMs, written: () => (count += 1) });
  return { ended, written: () => count };
}

async function channelTo(serve: (stream: ServerHttp2Stream) => void): Promise<Channel> {
  const { address } = await nodeServer(opened, serve);
  const headers = { te: 'trailers', 'content-type': 'application/grpc' };
  const channel = new Channel({ address: new URL(address), headers });
  return opened(channel);
}
