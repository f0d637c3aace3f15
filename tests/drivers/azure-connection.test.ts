// Azure's driver on connections that break off, lie or never end: what comes whole is believed,
// nothing else, and nothing is sent again.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Driver, SILENCE_MS } from '../../shared/store/contract/driver.ts';
import { UnderWay } from '../../shared/drivers/common/under-way.ts';
import { FOREIGN, httpClient, REQUEST_ID } from '../../shared/drivers/azure-tables/table-service.ts';
import { CALL } from '../../shared/drivers/conformance/check-calls.ts';
import { closedAfterEach } from '../support/opened.ts';
import {
  BATCH_TYPE,
  errorText,
  ETAG,
  JSON_TYPE,
  member,
  multipart,
  odataError,
  servedOver,
  twoWrites,
  azureText,
  type RawRequest,
  rawServer,
  replyText,
} from './azure-service.ts';
import { TRANSPORTS } from './emulated.ts';
import { A, INSERT, READ } from './one-of-each.ts';

const QUICK = { timeoutMs: 300 };
const ENTITY = '{"RowKey":"a","h":"AAAAAXg="}';

const UNAVAILABLE = { code: 'unavailable', retryable: true };
const UNKNOWN = { kind: 'unknown', reason: 'other' };

const LONG_MS = 600_000;

const opened = closedAfterEach();
afterEach(() => void vi.useRealTimers());

/** Sockets keep to real time. */
function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
}

const read = (driver: Driver, options = CALL) => driver.read(READ, options);

async function write(driver: Driver, options = CALL) {
  return (await driver.write([INSERT], options))[0];
}

const together = (driver: Driver) => driver.write(twoWrites(driver), CALL);

const noRead = (driver: Driver) => expect(read(driver)).rejects.toMatchObject(UNAVAILABLE);
const noWrite = (driver: Driver) => expect(write(driver)).resolves.toMatchObject(UNKNOWN);
const neither = (driver: Driver) => expect(together(driver)).resolves.toMatchObject([UNKNOWN, UNKNOWN]);

function chunked(body: string): string {
  const size = body.length.toString(16);
  const head = azureText(200, { ...JSON_TYPE, ...ETAG, 'Transfer-Encoding': 'chunked' }).replace(
    /Content-Length: 0\r\n/,
    '',
  );
  return `${head}${size}\r\n${body}\r\n0\r\n\r\n`;
}

const BOTH = multipart(member(204), member(204));
const NEITHER = multipart(member(409, 'X: y\r\n', odataError('EntityAlreadyExists')));
/** Replies that are believed as a whole, and not in part. */
const WHOLE = {
  entity: azureText(200, { ...JSON_TYPE, ...ETAG }, ENTITY),
  inChunks: chunked(ENTITY),
  absence: errorText(404, 'ResourceNotFound'),
  written: azureText(204, ETAG),
  refused: errorText(409, 'EntityAlreadyExists'),
  both: azureText(202, BATCH_TYPE, BOTH),
  neither: azureText(202, BATCH_TYPE, NEITHER),
};

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  const served = servedOver(transport, opened);

  type Ending = (socket: RawRequest['socket']) => unknown;
  const ENDS: Readonly<Record<string, Ending>> = {
    'an end': (socket) => socket.end(),
    'a reset': (socket) => socket.resetAndDestroy(),
  };

  // The SDK's client tells both alike, and takes long for as many replies.
  const ends = Object.entries(ENDS).slice(0, transport === 'own' ? 2 : 1);

  describe.each(ends)('a reply that breaks off with %s at any byte', (_, endOf) => {
    /**
     * A driver, whose server sends one byte more of this reply each time, and all of those times at
     * once: one after the other they wait too often.
     */
    async function broken(reply: string) {
      let sent = 0;
      const begun = await served(({ socket }) => {
        const bytes = Buffer.from(reply.slice(0, sent));
        sent += 1;
        if (bytes.length === 0) endOf(socket);
        else socket.write(bytes, () => endOf(socket));
      });
      const eachTime = <Outcome>(ask: (driver: Driver) => Promise<Outcome>): Promise<Outcome[]> =>
        Promise.all(Array.from({ length: reply.length }, () => ask(begun.driver)));
      return { ...begun, times: reply.length, eachTime };
    }

    test.each([
      ['is no entity', WHOLE.entity, noRead],
      ['is no entity in chunks', WHOLE.inChunks, noRead],
      ['is no absence', WHOLE.absence, noRead],
      ['is no acknowledgement of a write', WHOLE.written, noWrite],
      ['is no refusal of a write', WHOLE.refused, noWrite],
      ['is no acknowledgement of a transaction', WHOLE.both, neither],
      ['is no refusal of a transaction', WHOLE.neither, neither],
    ])('%s, and rule 2: sent once', async (_name, reply, ask) => {
      const { server, times, eachTime } = await broken(reply);
      await eachTime(ask);
      expect(server.requests).toHaveLength(times);
    });
  });

  test('a server that is not there is named, with its address and the cause', async () => {
    const { driver, server } = await served(() => {});
    server.close();
    const message = expect.stringContaining(
      `no whole reply from http://127.0.0.1:${server.port}: connect ECONNREFUSED 127.0.0.1:${server.port}`,
    ) as string;
    await expect(read(driver)).rejects.toMatchObject({ code: 'unavailable', retryable: true, message });
    const cause = { code: 'unavailable', retryable: true, message };
    expect(await write(driver)).toMatchObject({ kind: 'refused', reason: 'unsent', cause });
    expect(await together(driver)).toMatchObject([{ reason: 'unsent' }, { reason: 'unsent' }]);
  });

  describe('a reply that lies or never ends', () => {
    test.each([
      ['is longer than it says', (text: string) => text.replace(/(Content-Length: )\d+/, '$15')],
      ['is shorter than it says', (text: string) => text.replace(/(Content-Length: )\d+/, '$199')],
      ['says two lengths', (text: string) => text.replace(/(Content-Length: \d+)/, '$1\r\nContent-Length: 5')],
      ['says no length, and is cut', (text: string) => text.replace(/Content-Length: \d+\r\n/, '').slice(0, -3)],
      ['has chunks of no size', () => chunked(ENTITY).replace(/\r\n\r\n[0-9a-f]+/, '\r\n\r\nzz')],
      ['is no HTTP', () => 'SSH-2.0-OpenSSH_9.6\r\n'],
    ])('one that %s is unavailable to a read, and the next one is read from its beginning', async (_, spoil) => {
      const { driver, server } = await served(({ socket }) => {
        if (server.requests.length === 1) socket.end(spoil(WHOLE.entity));
        else socket.write(WHOLE.entity);
      });
      await expect(read(driver)).rejects.toMatchObject(UNAVAILABLE);
      expect(await read(driver)).toMatchObject([{ id: A }]);
      expect(server.requests).toHaveLength(2);
    });

    test('one that drips ends at the deadline, and its socket with it', async () => {
      const { driver, server } = await served(({ socket }) => {
        let at = 0;
        const drip = setInterval(() => socket.write(WHOLE.entity.slice(at, ++at)), 20);
        socket.once('close', () => clearInterval(drip));
      });
      await expect(read(driver, QUICK)).rejects.toMatchObject(UNAVAILABLE);
      expect(await write(driver, QUICK)).toMatchObject({ kind: 'unknown' });
      await expect.poll(server.open).toBe(0);
      expect(server.requests).toHaveLength(2);
    });

    test('several that never come end each at its own deadline, whichever was asked first', async () => {
      stopTime();
      const arrived = Promise.withResolvers<void>();
      const { driver, server } = await served(() => server.requests.length === 3 && arrived.resolve());
      const ended: string[] = [];
      const ask = async (name: string, timeoutMs: number): Promise<void> => {
        const cause = { cause: { name: 'DeadlineError' } };
        expect(await write(driver, { timeoutMs })).toMatchObject({ kind: 'unknown', cause });
        ended.push(name);
      };
      const [second, first, third] = [ask('second', 400), ask('first', 200), ask('third', 600)];
      await arrived.promise;
      for (const next of [first, second, third]) {
        await vi.advanceTimersByTimeAsync(200);
        await next;
      }
      expect(ended).toEqual(['first', 'second', 'third']);
      vi.useRealTimers();
      await expect.poll(server.open).toBe(0);
      expect(server.requests).toHaveLength(3);
    });

    // The SDK bounds a reply by nothing but memory.
    test.skipIf(transport === 'sdk').each([
      [
        'body',
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: v\r\n\r\n{"h":"`,
        /of more than 8388608 bytes$/,
      ],
      ['head', 'HTTP/1.1 200 OK\r\nETag: ', /Header overflow$/],
    ])('one whose %s has no end is left before its deadline', async (_, beginning, why) => {
      const { driver, server } = await served(({ socket }) => {
        socket.write(beginning);
        const more = (): void => {
          while (!socket.destroyed && socket.write('A'.repeat(65_536)));
        };
        socket.on('drain', more);
        more();
      });
      const message = expect.stringMatching(why) as string;
      await expect(read(driver)).rejects.toMatchObject({ code: 'unavailable', retryable: true, message });
      expect(await write(driver)).toMatchObject({ kind: 'unknown', reason: 'other', cause: { message } });
      await expect.poll(server.open).toBe(0);
      expect(server.requests).toHaveLength(2);
    });
  });

  describe('a kept socket', () => {
    test.each(Object.entries(ENDS))('that gets %s as it is used again: a write is unknown', async (_, endOf) => {
      const { driver, server } = await served(({ socket }) => {
        if (server.requests.length % 2 === 1) socket.write(azureText(204, ETAG));
        else endOf(socket);
      });
      expect(await write(driver)).toMatchObject({ kind: 'written' });
      expect(await write(driver)).toMatchObject(UNKNOWN);
      expect([server.requests.length, server.accepted()]).toEqual([2, 1]);
      expect(await write(driver)).toMatchObject({ kind: 'written' });
      await expect(read(driver)).rejects.toMatchObject(UNAVAILABLE);
      expect([server.requests.length, server.accepted()]).toEqual([4, 2]);
    });

    test('that brings one reply too many acknowledges no other request, and is closed', async () => {
      const { driver, server } = await served(({ method, socket }) => {
        // Every second request gets a copy of the reply to the one before.
        const answered = server.requests.at(server.requests.length % 2 === 1 ? -1 : -2)!;
        const echo = { [REQUEST_ID]: answered.headers[REQUEST_ID]! };
        socket.write(
          method === 'GET' ? errorText(404, 'ResourceNotFound', echo) : azureText(204, { ...ETAG, ...echo }),
        );
      });
      expect(await write(driver)).toMatchObject({ kind: 'written' });
      expect(await write(driver)).toMatchObject({
        ...UNKNOWN,
        cause: { message: expect.stringContaining(FOREIGN) as string },
      });
      await expect.poll(server.open).toBe(0);
      expect(await read(driver)).toEqual([undefined]);
      await expect(read(driver)).rejects.toMatchObject(UNAVAILABLE);
      await expect.poll(server.open).toBe(0);
      expect([server.requests.length, server.accepted()]).toEqual([4, 2]);
    });

    test('that the server closes between two requests is replaced', async () => {
      const { driver, server } = await served(({ socket }) => void socket.end(azureText(204, ETAG)));
      for (let time = 0; time < 3; time += 1) {
        expect(await write(driver)).toMatchObject({ kind: 'written' });
        await expect.poll(server.open).toBe(0);
      }
      expect(server.requests).toHaveLength(3);
    });

    // Another's client keeps its sockets.
    test.skipIf(transport === 'sdk')('is closed with the driver', async () => {
      const { driver, server } = await served(({ socket }) => socket.write(azureText(204, ETAG)));
      await Promise.all([write(driver), write(driver), write(driver)]);
      expect(server.open()).toBe(3);
      await driver.close();
      await expect.poll(server.open).toBe(0);
    });
  });

  test.each([
    ['7', 7_000],
    ['999999', 30_000],
    ['soon', undefined],
    ['-1', undefined],
  ])('a pause of %s that the service asks for is handed on, within bounds', async (retryAfter, retryAfterMs) => {
    const { driver } = await served(({ socket }) =>
      socket.write(azureText(503, { ...JSON_TYPE, 'Retry-After': retryAfter }, odataError('ServerBusy'))),
    );
    const cause = { code: 'throttled', retryable: true, retryAfterMs };
    await expect(read(driver)).rejects.toMatchObject(cause);
    expect(await write(driver)).toMatchObject({ kind: 'refused', reason: 'throttled', cause });
  });

  test('a transaction on a missing table creates the table, and is sent again, as it had no effect', async () => {
    const missing = multipart(member(404, 'X: y\r\n', odataError('TableNotFound')));
    const replies = [azureText(202, BATCH_TYPE, missing), azureText(204, {}), azureText(202, BATCH_TYPE, BOTH)];
    const { driver, server } = await served(({ socket }) => socket.write(replies.shift()!));
    expect(await together(driver)).toMatchObject([{ kind: 'written' }, { kind: 'written' }]);
    expect(server.requests.map(({ target }) => target)).toEqual(['/$batch', '/Tables', '/$batch']);
  });
});

/** A client that has sent such a request, whose reply the test writes. */
async function asked(method: 'GET' | 'PUT') {
  stopTime();
  const arrived = Promise.withResolvers<RawRequest>();
  const server = opened(await rawServer(arrived.resolve));
  const client = opened(httpClient(`http://127.0.0.1:${server.port}`));
  const body = method === 'PUT' ? Buffer.from('x') : undefined;
  const replying = client.send({ method, target: '/', headers: [], body }, performance.now() + LONG_MS);
  replying.catch(() => {});
  const { socket } = await arrived.promise;
  /** Writes this piece, and waits until the client has it: to poll for it would let time pass. */
  const write = async (text: string): Promise<void> => {
    const heard = Promise.withResolvers<void>();
    const hear = Reflect.get(UnderWay.prototype, 'heard');
    vi.spyOn(UnderWay.prototype, 'heard').mockImplementationOnce(function (this: UnderWay, sent) {
      hear.call(this, sent);
      heard.resolve();
    });
    socket.write(text);
    await heard.promise;
    vi.restoreAllMocks();
  };
  return { replying, write };
}

describe('the own transport', () => {
  test('a read goes on as long as its reply comes, be it slowly', async () => {
    const { replying, write: send } = await asked('GET');
    const body = 'slowly'.repeat(3);
    const reply = replyText(200, {}, body);
    const head = reply.length - body.length;
    await send(reply.slice(0, head + 1));
    for (const byte of reply.slice(head + 1)) {
      await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
      await send(byte);
    }
    expect(String((await replying).body)).toBe(body);
  });

  test.each([0, 1])('a read ends when nothing comes any more (after %i bytes)', async (bytes) => {
    const { replying, write: send } = await asked('GET');
    if (bytes > 0) await send(replyText(200, {}, 'slowly').slice(0, bytes - 'slowly'.length));
    await vi.advanceTimersByTimeAsync(SILENCE_MS);
    await expect(replying).rejects.toMatchObject({ cause: { name: 'DeadlineError' } });
  });

  test('a write has all its time: nobody sends it again', async () => {
    const { replying, write: send } = await asked('PUT');
    await vi.advanceTimersByTimeAsync(LONG_MS - 1);
    await send(replyText(200, {}, 'late'));
    expect(String((await replying).body)).toBe('late');
  });
});
