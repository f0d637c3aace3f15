// The transport below the Datastore driver: connections, streams, deadlines, pings, tokens. Time is
// made to pass; the network is real.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { promisify } from 'node:util';
import { GoogleAuth, JWT } from 'google-auth-library';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Channel, type Auth } from '../../../shared/drivers/datastore/grpc/channel.ts';
import {
  type Asked,
  data,
  frameServer,
  goaway,
  headers,
  message,
  reply,
  RESPONSE_HEADERS,
  room,
  statusOnly,
  nodeServer,
  replyWith,
} from './servers.ts';
import { seededRandom } from '../../../shared/lab/kit/random.ts';
import { closedAfterEach } from '../../support/opened.ts';

const PATH = '/test.Service/Method';
const LONG_MS = 10 * 60_000;

const opened = closedAfterEach();
afterEach(() => void vi.useRealTimers());

/** The error of a call of which nothing left, for this reason. */
function unsent(cause: object) {
  return { name: 'NotSentError', cause };
}

async function serve(...asked: Parameters<typeof frameServer>) {
  return opened(await frameServer(...asked));
}

/** A server that answers so, and a channel to it. */
async function connected(...asked: Parameters<typeof frameServer>) {
  const server = await serve(...asked);
  return { server, channel: channelTo(server.address) };
}

function channelTo(address: string, auth?: Auth): Channel {
  const headers = { te: 'trailers', 'content-type': 'application/grpc' };
  return opened(new Channel({ address: new URL(address), headers, ...(auth === undefined ? {} : { auth }) }));
}

/** A call whose message is this text, and whose reply should be. */
function call(channel: Channel, text: string, timeoutMs = LONG_MS, silenceMs = LONG_MS): Promise<string> {
  const request = { path: PATH, message: message(Buffer.from(text)), timeoutMs, silenceMs };
  return channel.unary(request).then(String);
}

/** Each of these calls, all at once, gets its own message back. */
async function expectEchoes(channel: Channel, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, index) => `call ${index}`);
  expect(await Promise.all(texts.map((text) => call(channel, text)))).toEqual(texts);
}

/** Gives every request its own message. */
function echo({ connection, stream, message: said }: Asked): void {
  connection.open.delete(stream);
  connection.socket.write(reply(stream, said));
}

/**
 * A server, and when so many requests have come: to poll for them would let time pass where it is
 * stopped.
 */
async function serveUntil(count: number, answer: (asked: Asked) => unknown) {
  const all = Promise.withResolvers<void>();
  const { server, channel } = await connected((asked) => {
    answer(asked);
    if (server.messages.length === count) all.resolve();
  });
  return { server, channel, all: all.promise };
}

/** Sockets keep to real time. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

describe('connections', () => {
  test('are opened by the first call, and one carries many calls side by side', async () => {
    const { server, channel } = await connected(echo);
    expect(server.connections).toHaveLength(0);
    await expectEchoes(channel, 100);
    expect(server.connections).toHaveLength(1);
  });

  test('where the service takes one stream at a time, no connection has two, and there are four at the most', async () => {
    let openMax = 0;
    const { server, channel } = await connected(
      (asked) => {
        openMax = Math.max(openMax, asked.connection.open.size);
        setImmediate(() => echo(asked));
      },
      { streamsMax: 1 },
    );
    await expectEchoes(channel, 40);
    expect(openMax).toBe(1);
    expect(server.connections.length).toBeLessThanOrEqual(4);
  });

  test('no connection carries more than 100 calls at a time', async () => {
    const waiting: Asked[] = [];
    const { server, channel } = await connected((asked) => {
      waiting.push(asked);
      if (waiting.length === 250) for (const one of waiting) echo(one);
    });
    await expectEchoes(channel, 250);
    const counts = server.connections.map(
      (connection) => waiting.filter((one) => one.connection === connection).length,
    );
    expect(counts.toSorted((a, b) => a - b)).toEqual([50, 100, 100]);
  });

  test('are not used again after four idle minutes', async () => {
    stopTime();
    const { server, channel } = await connected(echo);
    await call(channel, 'a');
    await vi.advanceTimersByTimeAsync(3 * 60_000);
    await call(channel, 'b');
    expect(server.connections).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    await call(channel, 'c');
    expect(server.connections).toHaveLength(2);
    await expect
      .poll(() => server.connections[0]!.socket.destroyed || server.connections[0]!.socket.readableEnded)
      .toBe(true);
  });

  test('that do not open within ten seconds are given up, with the calls that wait for them', async () => {
    stopTime();
    const server = await serve(echo, { greets: false });
    const calling = call(channelTo(server.address), 'x');
    calling.catch(() => {});
    await expect.poll(() => server.connections.length).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    await expect(calling).rejects.toMatchObject(unsent({ code: 14, isVerdict: false }));
  });

  test('without calls keep no process alive', async () => {
    const server = await serve(echo);
    const module = new URL('../../../shared/drivers/datastore/grpc/channel.ts', import.meta.url).href;
    const code = `
      const { Channel } = await import('${module}');
      const channel = new Channel({ address: new URL('${server.address}'), headers: { 'content-type': 'application/grpc' } });
      const reply = await channel.unary({ path: '${PATH}', message: Buffer.from([0, 0, 0, 0, 1, 65]), timeoutMs: 600_000 });
      console.log(String(reply));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
      timeout: 20_000,
    });
    expect(stdout).toBe('A\n');
  });

  test('where no further one can be opened, calls wait for those that there are, and few are tried', async () => {
    const held: Asked[] = [];
    const { server, channel } = await connected((asked) => held.push(asked), { streamsMax: 1, connectionsMax: 1 });
    const calls = Array.from({ length: 5 }, (_, index) => call(channel, `${index}`));
    await expect.poll(() => server.dropped()).toBe(1);
    for (let index = 0; index < 5; index += 1) {
      await expect.poll(() => held.length).toBe(index + 1);
      echo(held[index]!);
    }
    expect(await Promise.all(calls)).toEqual(['0', '1', '2', '3', '4']);
    expect(server.dropped()).toBeLessThanOrEqual(3);
  });

  test('a large request and a large reply pass', async () => {
    const { address } = await nodeServer(opened, (stream) => replyWith(stream, (request) => request));
    const text = 'x'.repeat(20_000_000);
    const channel = channelTo(address);
    const replies = await Promise.all([call(channel, text), call(channel, 'small')]);
    expect(replies.map(({ length }) => length)).toEqual([text.length, 5]);
  });
});

describe('a call', () => {
  test.each([
    [1_234, /^\d{1,4}m$/],
    [1e15, /^99999999m$/],
  ])('says how long it has: %d ms', async (timeoutMs, told) => {
    const { address, seen } = await headersServer();
    await call(channelTo(address), 'x', timeoutMs);
    expect(seen[0]!['grpc-timeout']).toMatch(told);
  });

  test('ends at its deadline, and gives up its stream', async () => {
    const { server, channel } = await connected((asked) =>
      String(asked.message) === 'late' ? undefined : echo(asked),
    );
    await call(channel, 'opens the connection');
    const [late] = await Promise.allSettled([call(channel, 'late', 100), call(channel, 'b')]);
    expect(late).toMatchObject({ reason: { name: 'DeadlineError' } });
    await expect.poll(() => [...server.connections[0]!.reset]).toEqual([[3, 8]]);
    expect(await call(channel, 'c')).toBe('c');
    expect(server.connections).toHaveLength(1);
  });

  test('ends at its deadline although another ended before', async () => {
    stopTime();
    const { channel, all } = await serveUntil(2, () => {});
    const calls = [call(channel, 'a', 100), call(channel, 'b', 300)];
    const ended: number[] = [];
    for (const [index, one] of calls.entries()) one.catch(() => ended.push(index));
    await all;
    await vi.advanceTimersByTimeAsync(100);
    expect(ended).toEqual([0]);
    await vi.advanceTimersByTimeAsync(200);
    expect(ended).toEqual([0, 1]);
  });

  test('leaves its connection at its deadline if nothing was heard of it since it was sent', async () => {
    const { server, channel } = await connected((asked) => (String(asked.message) === 'a' ? undefined : echo(asked)));
    await call(channel, 'opens the connection');
    await expect(call(channel, 'a', 50)).rejects.toMatchObject({ name: 'DeadlineError' });
    expect(await call(channel, 'b')).toBe('b');
    await expect.poll(() => server.connections[0]!.socket.readableEnded).toBe(true);
  });

  test('is not sent later if no connection was there for it in time', async () => {
    const held: Asked[] = [];
    const { server, channel } = await connected((asked) => held.push(asked), { streamsMax: 1 });
    const first = Array.from({ length: 4 }, (_, index) => call(channel, `first ${index}`));
    await expect.poll(() => held.length).toBe(4);
    await expect(call(channel, 'late', 50)).rejects.toMatchObject(unsent({ name: 'DeadlineError' }));
    for (const asked of held) echo(asked);
    await Promise.all(first);
    const next = call(channel, 'next');
    await expect.poll(() => held.length).toBe(5);
    echo(held.at(-1)!);
    expect(await next).toBe('next');
    expect(server.messages).not.toContain(Buffer.from('late').toString('hex'));
  });

  test('ends when the channel closes; waiting and later ones are not sent', async () => {
    const { server, channel } = await connected(() => {}, { streamsMax: 1 });
    const calls = Array.from({ length: 9 }, (_, index) => call(channel, `${index}`));
    await expect.poll(() => server.messages.length).toBe(4);
    channel.close();
    for (const result of await Promise.allSettled(calls)) expect(result).toMatchObject({ status: 'rejected' });
    await expect(call(channel, 'later')).rejects.toMatchObject(unsent({ code: 'unavailable', retryable: false }));
    expect(server.messages).toHaveLength(4);
  });
});

describe('a call that bounds silence', () => {
  test('ends when nothing comes for so long, though its connection lives', async () => {
    stopTime();
    const { server, channel, all } = await serveUntil(1, (asked) => (asked.stream > 1 ? echo(asked) : undefined));
    let failure: unknown;
    call(channel, 'a', LONG_MS, 4_000).catch((error: unknown) => (failure = error));
    await all;
    await vi.advanceTimersByTimeAsync(3_999);
    expect(await call(channel, 'b')).toBe('b');
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(failure).toMatchObject({
      name: 'DeadlineError',
      message: expect.stringContaining(server.address) as string,
    });
  });

  test('has more time when much came for others on its connection, and ends when nothing does', async () => {
    stopTime();
    const { channel, all } = await serveUntil(1, (asked) => (asked.stream > 1 ? echo(asked) : undefined));
    let failure: unknown;
    call(channel, 'a', LONG_MS, 4_000).catch((error: unknown) => (failure = error));
    await all;
    for (const text of ['b'.repeat(40_000), 'little', 'little', 'little']) {
      await call(channel, text);
      await vi.advanceTimersByTimeAsync(1_999);
    }
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(4);
    expect(failure).toMatchObject({ name: 'DeadlineError' });
  });

  test('goes on as long as its reply comes, be it slowly, and ends when that stops', async () => {
    stopTime();
    const slow: Asked[] = [];
    const { channel, all } = await serveUntil(2, (asked) =>
      String(asked.message) === 'beside' ? echo(asked) : slow.push(asked),
    );
    const calls = ['whole', 'stops'].map((text) => call(channel, text, LONG_MS, 4_000));
    const ended = Promise.allSettled(calls);
    await all;
    const frames = slow.map(({ stream, message: said }) => [
      headers(stream, RESPONSE_HEADERS),
      ...Array.from(message(said), (byte) => data(stream, Uint8Array.of(byte))),
      headers(stream, { 'grpc-status': '0' }, { isEnd: true }),
    ]);
    for (const [index, next] of frames[0]!.entries()) {
      slow[0]!.connection.socket.write(index < 5 ? Buffer.concat([next, frames[1]![index]!]) : next);
      // Its reply comes behind the frames on the same connection, so they have come too.
      await call(channel, 'beside');
      await vi.advanceTimersByTimeAsync(3_000);
    }
    expect(await ended).toMatchObject([{ value: 'whole' }, { reason: { name: 'DeadlineError' } }]);
  });
});

describe('a path that is dead', () => {
  test('is noticed by a ping within five seconds, and the next call takes another connection', async () => {
    stopTime();
    const { server, channel } = await connected((asked) => {
      if (server.connections.length > 1) echo(asked);
      asked.connection.answersPings = false;
    });
    const calling = call(channel, 'a');
    calling.catch(() => {});
    await expect.poll(() => server.messages.length).toBe(1);
    await vi.advanceTimersByTimeAsync(2_100);
    await expect.poll(() => server.connections[0]!.pings).toBe(1);
    await vi.advanceTimersByTimeAsync(3_100);
    await expect(calling).rejects.toMatchObject({ code: 14, isVerdict: false });
    expect(await call(channel, 'b')).toBe('b');
    expect(server.messages).toHaveLength(2);
  });

  test.each([
    ['answers pings, of which there are two a minute at the most', true, 60, 2],
    ['brings anything: the answer to a ping may wait behind a large request', false, 30, 1],
  ])('is not one that %s', async (_, answersPings, seconds, pings) => {
    stopTime();
    let held: Asked | undefined;
    const { channel } = await connected((asked) => {
      asked.connection.answersPings = answersPings;
      held = asked;
    });
    const calling = call(channel, 'a');
    await expect.poll(() => held).toBeDefined();
    for (let second = 0; second < seconds; second += 1) {
      if (!answersPings) held!.connection.socket.write(room(1));
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(held!.connection.pings).toBe(pings);
    echo(held!);
    expect(await calling).toBe('a');
  });

  test('is not asked after while nothing is under way', async () => {
    stopTime();
    const server = await serve(echo);
    await call(channelTo(server.address), 'a');
    await vi.advanceTimersByTimeAsync(60_000);
    await new Promise(setImmediate);
    expect(server.connections[0]!.pings).toBe(0);
  });
});

/** Credentials that give these headers. */
function authWith(headers: object | (() => Promise<Headers>)): Auth {
  const getRequestHeaders = async () => (typeof headers === 'function' ? headers() : headers);
  return { getClient: async () => ({ getRequestHeaders }) };
}

/** Gives a fresh token to whoever asks. */
function authOf(tokens: () => string | Promise<string>) {
  let asked = 0;
  const auth = authWith(async () => {
    asked += 1;
    return new Headers({ authorization: `Bearer ${await tokens()}`, 'x-goog-user-project': 'payer' });
  });
  return { auth, asked: () => asked };
}

describe('tokens', () => {
  test('go with every call, and are asked for once, then again after a minute', async () => {
    const { address, seen } = await headersServer();
    let token = 'first';
    const { auth, asked } = authOf(() => token);
    stopTime();
    const channel = channelTo(address, auth);
    await Promise.all([call(channel, 'a'), call(channel, 'b')]);
    token = 'second';
    await call(channel, 'c');
    expect(asked()).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
    await call(channel, 'd');
    expect(asked()).toBe(2);
    const shown = seen.map(({ authorization }) => authorization);
    expect(shown).toEqual(['Bearer first', 'Bearer first', 'Bearer first', 'Bearer second']);
    expect(seen[0]).toMatchObject({ 'x-goog-user-project': 'payer' });
  });

  test('come from Google’s library, which signs them itself for a service account without scopes', async () => {
    const { address, seen } = await headersServer();
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const auth = new GoogleAuth({ authClient: new JWT({ email: 'me@example.org', key }) });
    await call(channelTo(address, auth), 'a');
    const [, payload] = seen[0]!.authorization!.split('.');
    expect(seen[0]!.authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
    expect(JSON.parse(Buffer.from(payload!, 'base64url').toString())).toMatchObject({
      iss: 'me@example.org',
      aud: `${address}/`,
    });
  });

  test('that the service does not accept any more are asked for again by the next call, and the refused one is not resent', async () => {
    const server = await serve((asked) => {
      const { connection, stream } = asked;
      if (server.messages.length === 2) connection.socket.write(statusOnly(stream, 16, 'expired'));
      else echo(asked);
    });
    const { auth, asked } = authOf(() => 'token');
    const channel = channelTo(server.address, auth);
    await call(channel, 'a');
    await expect(call(channel, 'b')).rejects.toMatchObject({ code: 16, message: 'expired', isVerdict: true });
    expect(server.messages).toHaveLength(2);
    expect(asked()).toBe(1);
    expect(await call(channel, 'c')).toBe('c');
    expect(asked()).toBe(2);
  });

  test('that cannot be had fail the call, and nothing is sent; the next call asks again', async () => {
    const server = await serve(echo);
    let isThere = false;
    const { auth } = authOf(() => {
      if (!isThere) throw new Error('no metadata server');
      return 'token';
    });
    const channel = channelTo(server.address, auth);
    const message = expect.stringMatching(/gcloud auth application-default login.*: no metadata server$/) as string;
    await expect(call(channel, 'a')).rejects.toMatchObject(unsent({ code: 'unavailable', retryable: true, message }));
    expect(server.connections).toHaveLength(0);
    isThere = true;
    expect(await call(channel, 'b')).toBe('b');
  });

  test('that never come let the call end at its deadline', async () => {
    const server = await serve(echo);
    const { auth } = authOf(() => new Promise(() => {}));
    await expect(call(channelTo(server.address, auth), 'a', 50)).rejects.toMatchObject(
      unsent({ name: 'DeadlineError', message: 'no reply from the credentials in time: timeoutMs=50' }),
    );
    expect(server.connections).toHaveLength(0);
  });

  test.each([
    ['of a library before 10', { Authorization: 'Bearer a' }, ': use google-auth-library 10 or later'],
    ['of nothing', async () => undefined as never, ': use google-auth-library 10 or later'],
    [
      'beside headers that HTTP/2 forbids',
      new Headers({ authorization: 'Bearer a', connection: 'close' }),
      'could not be sent',
    ],
  ])('%s fail the call, and nothing is sent', async (_, headers, why) => {
    const server = await serve(echo);
    const calling = call(channelTo(server.address, authWith(headers)), 'a');
    const message = expect.stringContaining(why) as string;
    await expect(calling).rejects.toMatchObject(unsent({ message }));
    expect(server.messages).toEqual([]);
  });
});

test('rule 2: nothing is sent twice, whatever becomes of the connections, and each call ends', async () => {
  const chance = seededRandom(20_261_122);
  const { server, channel } = await connected(
    (asked) => {
      const { connection, stream } = asked;
      const fate = chance();
      if (fate < 0.05) connection.socket.destroy();
      else if (fate < 0.1) connection.socket.resetAndDestroy();
      else if (fate < 0.15) connection.socket.write(goaway(Math.max(0, stream - 2)));
      else if (fate < 0.2) connection.socket.write(goaway(stream, 2));
      else if (fate < 0.25) connection.socket.write(Buffer.concat([goaway(2 ** 31 - 1), reply(stream, asked.message)]));
      else if (fate < 0.3) connection.socket.write(reply(stream, asked.message).subarray(0, Math.floor(60 * chance())));
      else echo(asked);
    },
    { streamsMax: 7 },
  );
  let answered = 0;
  const inTurn = async (lane: number): Promise<void> => {
    for (let index = 0; index < 100; index += 1) {
      const text = `${lane} ${index}`;
      if ((await call(channel, text, 500).catch(() => undefined)) === text) answered += 1;
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(inTurn));
  expect(answered).toBeGreaterThan(200);
  expect(server.messages.length).toBeGreaterThan(500);
  expect(new Set(server.messages).size).toBe(server.messages.length);
});

/** For what is in the headers. */
const headersServer = () => nodeServer(opened, (stream) => replyWith(stream, () => message(Buffer.from('ok'))));
