// Azure's driver against broken, lying, endless and foreign replies: a read becomes unavailable,
// never absence; a write unknown, never refused; nothing is sent again.
import { TableClient } from '@azure/data-tables';
import { describe, expect, test } from 'vitest';
import { type TableCalls, tableCalls } from '../../shared/drivers/azure-tables/client.ts';
import { driverOn } from '../../shared/drivers/azure-tables/driver.ts';
import { FOREIGN, REQUEST_ID } from '../../shared/drivers/azure-tables/http.ts';
import { sdkCalls } from '../../shared/drivers/azure-tables/sdk-client.ts';
import type { Driver, Write } from '../../shared/store/contract/driver.ts';
import { CALL, idsOfOneLane, insert, part } from '../conformance/harness.ts';
import { entityVersion } from '../support/ids.ts';
import { closedAfterEach } from '../support/opened.ts';
import { BATCH_TYPE, errorText, ETAG, JSON_TYPE, member, multipart, odataError, servedOver } from './azure-service.ts';
import { TRANSPORTS } from './emulated.ts';
import { A, INSERT, PATCH, READ, REMOVALS, REPLACE } from './one-of-each.ts';
import { azureText, type RawRequest, rawServer, replyText, SERVICE_HEADERS } from './raw-server.ts';

const QUICK = { timeoutMs: 1_000 };
const ENTITY = '{"RowKey":"a","h":"AAAAAXg="}';

const UNAVAILABLE = { code: 'unavailable', retryable: true };
const UNKNOWN = { kind: 'unknown', reason: 'other' };

const opened = closedAfterEach();

function portal(headers: Readonly<Record<string, string>> = {}): string {
  return replyText(200, { ...ETAG, 'Content-Type': 'text/html', ...headers }, '<p>Welcome to the hotel');
}

function read(driver: Driver, options = CALL) {
  return driver.read(READ, options);
}

async function write(driver: Driver, options = CALL) {
  return (await driver.write([INSERT], options))[0];
}

function twoWrites(driver: Driver): Write[] {
  return idsOfOneLane(driver, 'x', 2).map((id) => insert(id, [part('h', 'x')]));
}

function together(driver: Driver) {
  return driver.write(twoWrites(driver), CALL);
}

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
const CONFLICT = member(409, 'X: y\r\n', odataError('EntityAlreadyExists'));
const NEITHER = multipart(CONFLICT);

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

  function callsAt({ port }: { readonly port: number }): TableCalls {
    const [endpoint, tableName] = [`http://127.0.0.1:${port}/account?sig=s`, 'table'] as const;
    if (transport === 'own') return tableCalls({ endpoint, tableName });
    return sdkCalls(new TableClient(endpoint, tableName, { allowInsecureConnection: true }));
  }

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

  test('the whole of those replies is believed', async () => {
    const replies = Object.values(WHOLE);
    const { driver, server } = await served(({ socket }) => socket.write(replies.shift()!));
    expect(await read(driver)).toMatchObject([{ id: A }]);
    expect(await read(driver)).toMatchObject([{ id: A }]);
    expect(await read(driver)).toEqual([undefined]);
    expect(await write(driver)).toEqual({ kind: 'written', version: ETAG.ETag });
    expect(await write(driver)).toMatchObject({ kind: 'refused', reason: 'condition' });
    expect(await together(driver)).toMatchObject([{ kind: 'written' }, { kind: 'written' }]);
    expect(await together(driver)).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }]);
    expect(server.accepted()).toBe(1);
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
      const { driver, server } = await served(() => {});
      const ended: string[] = [];
      const request = async (name: string, timeoutMs: number): Promise<void> => {
        expect(await write(driver, { timeoutMs })).toMatchObject({
          kind: 'unknown',
          cause: { cause: { name: 'DeadlineError' } },
        });
        ended.push(name);
      };
      await Promise.all([request('second', 400), request('first', 200), request('third', 600)]);
      await request('alone', 200);
      expect(ended).toEqual(['first', 'second', 'third', 'alone']);
      await expect.poll(server.open).toBe(0);
      expect(server.requests).toHaveLength(4);
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

    test('is there for each request, however many are in flight: who calls the driver limits them', async () => {
      const { driver, server } = await served(() => {});
      const writes = Array.from({ length: 300 }, () => write(driver, { timeoutMs: 60_000 }));
      await expect.poll(() => server.requests.length).toBe(300);
      for (const { socket } of server.requests) socket.write(azureText(204, ETAG));
      expect(new Set((await Promise.all(writes)).map((outcome) => outcome?.kind))).toEqual(new Set(['written']));
      expect(server.accepted()).toBe(300);
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

  describe.each([
    ['with a body of the service', true],
    ['without a body', false],
  ])('a status, %s', (_, hasBody) => {
    test.each([
      [408, 'OperationTimedOut', 'unavailable', 'other'],
      [429, 'TooManyRequests', 'throttled', 'throttled'],
      [500, 'InternalError', 'unavailable', 'other'],
      [502, 'BadGateway', 'unavailable', 'other'],
      [503, 'ServerBusy', 'throttled', 'throttled'],
      [504, 'GatewayTimeout', 'unavailable', 'other'],
    ])('%i %s is sent once: reads fail as %s, writes as %s', async (status, code, readCode, reason) => {
      const { driver, server } = await served(({ socket }) =>
        socket.write(hasBody ? errorText(status, code) : azureText(status, {})),
      );
      await expect(read(driver)).rejects.toMatchObject({ code: readCode, retryable: true });
      // By its code alone the service says that it did not take the request.
      const outcome = { kind: hasBody && code === 'ServerBusy' ? 'refused' : 'unknown', reason };
      expect(await write(driver)).toMatchObject(outcome);
      expect(await together(driver)).toMatchObject([outcome, outcome]);
      expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'POST']);
    });
  });

  test.each([
    ['7', 7_000],
    ['999999', 30_000],
    ['soon', undefined],
    ['-1', undefined],
  ])('the service asks for a pause of %s: it is handed on, and bounded', async (retryAfter, retryAfterMs) => {
    const { driver } = await served(({ socket }) =>
      socket.write(azureText(503, { ...JSON_TYPE, 'Retry-After': retryAfter }, odataError('ServerBusy'))),
    );
    const cause = { code: 'throttled', retryable: true, retryAfterMs };
    await expect(read(driver)).rejects.toMatchObject(cause);
    expect(await write(driver)).toMatchObject({ kind: 'refused', reason: 'throttled', cause });
  });

  /**
   * A driver that trusts its endpoint, as it does the service's own: nothing is sent but what the
   * test asks for.
   */
  async function trusting(replies: () => string) {
    const server = opened(await rawServer(({ socket }) => socket.write(replies())));
    return { driver: opened(driverOn(callsAt(server), false)), server };
  }

  /**
   * Each call once: outcomes of writes are unknown, nothing was read, and nothing was asked
   * twice.
   */
  async function expectNothingKnown(
    reply: string,
    calls: readonly string[] = ['write', 'patch', 'replace', 'remove', 'together', 'read', 'list'],
  ): Promise<void> {
    const { driver, server } = await trusting(() => reply);
    const unavailable = { code: 'unavailable' };
    const each: Readonly<Record<string, () => Promise<unknown>>> = {
      write: async () => expect(await write(driver)).toMatchObject(UNKNOWN),
      patch: async () => expect(await driver.write([PATCH], CALL)).toMatchObject([UNKNOWN]),
      replace: async () => expect(await driver.write([REPLACE], CALL)).toMatchObject([UNKNOWN]),
      remove: async () => expect(await driver.remove(REMOVALS, CALL)).toMatchObject([UNKNOWN]),
      together: async () => expect(await together(driver)).toMatchObject([UNKNOWN, UNKNOWN]),
      read: () => expect(read(driver)).rejects.toMatchObject(unavailable),
      list: () => expect(driver.list('a', undefined, 1, CALL)).rejects.toMatchObject(unavailable),
    };
    for (const [index, name] of calls.entries()) {
      await each[name]!();
      expect(server.requests.slice(index), `after ${name}`).toMatchObject([{ target: expect.any(String) as string }]);
    }
  }

  describe('what is not an answer of the service', () => {
    const { 'x-ms-request-id': id, 'x-ms-version': spoken } = SERVICE_HEADERS;
    const FULL = { ...ETAG, ...JSON_TYPE };
    const MOVED = { ...ETAG, Location: '/elsewhere' };

    test.each([
      ['of a captive portal, with an etag', portal()],
      ['of a captive portal that knows no version', portal({ 'x-ms-request-id': id })],
      ['of a captive portal that names no request', portal({ 'x-ms-version': spoken })],
      ['204, as a proxy gives it', replyText(204, ETAG)],
      ['201, as a proxy gives it', replyText(201, FULL, ENTITY)],
      ['200, as a proxy gives it', replyText(200, FULL, ENTITY)],
      ['202, as a proxy gives it', replyText(202, { ...ETAG, ...BATCH_TYPE }, BOTH)],
      ['409, as a proxy gives it', replyText(409, JSON_TYPE, odataError('EntityAlreadyExists'))],
      ['412, as a proxy gives it', replyText(412, JSON_TYPE, odataError('UpdateConditionNotSatisfied'))],
      ['404, as a proxy gives it', replyText(404, JSON_TYPE, odataError('ResourceNotFound'))],
      ['404 for the table, as a proxy gives it', replyText(404, JSON_TYPE, odataError('TableNotFound'))],
      ['413, as a proxy gives it', replyText(413, JSON_TYPE, odataError('RequestBodyTooLarge'))],
      ['400, as a proxy gives it', replyText(400, JSON_TYPE, odataError('InvalidInput'))],
      ['401, as a proxy gives it', replyText(401, {}, '<p>Log in')],
      ['403, as a proxy gives it', replyText(403, {}, '<p>No')],
    ])('one %s: writes, removals and transactions are unknown, reads unavailable', async (_, reply) => {
      await expectNothingKnown(reply);
    });

    test.each([203, 205, 206, 299])('no success of the service is a %i', async (status) => {
      await expectNothingKnown(azureText(status, FULL, ENTITY));
    });

    test.each([
      [
        200,
        azureText(200, { ...FULL, ...BATCH_TYPE }, BOTH),
        ['write', 'patch', 'replace', 'remove', 'together', 'list'],
      ],
      [201, azureText(201, FULL, ENTITY), ['write', 'patch', 'replace', 'remove', 'together', 'read', 'list']],
      [202, azureText(202, { ...FULL, ...BATCH_TYPE }, BOTH), ['write', 'patch', 'replace', 'remove', 'read', 'list']],
      [204, azureText(204, ETAG), ['together', 'read', 'list']],
    ])('%i is the success of some calls, and of no other', async (_, reply, others) => {
      await expectNothingKnown(reply, others);
    });

    test.each([301, 302, 303, 307, 308])('%i leads nowhere, whoever says it', async (status) => {
      await expectNothingKnown(replyText(status, MOVED));
      await expectNothingKnown(azureText(status, MOVED));
    });

    test.each([200, 201, 202, 302])('a member answered %i is not written, nor is its transaction', async (status) => {
      await expectNothingKnown(azureText(202, BATCH_TYPE, multipart(member(204), member(status))), ['together']);
      await expectNothingKnown(azureText(202, BATCH_TYPE, multipart(member(status))), ['together']);
    });

    test('a table is made by the service alone', async () => {
      const replies = [errorText(404, 'TableNotFound'), portal()];
      const { driver, server } = await trusting(() => replies.shift()!);
      expect(await write(driver)).toMatchObject(UNKNOWN);
      expect(server.requests.map(({ target }) => target)).toEqual(['/account/table?sig=s', '/account/Tables?sig=s']);
    });

    test.each([401, 403])('the service itself denies with %i, though it tells no version', async (status) => {
      const { driver } = await trusting(() => replyText(status, { 'x-ms-request-id': id }, '<error>'));
      const denied = { code: 'unavailable', retryable: false };
      const refused = { kind: 'refused', reason: 'denied', cause: denied };
      expect(await write(driver)).toMatchObject(refused);
      expect(await together(driver)).toMatchObject([refused, refused]);
      await expect(read(driver)).rejects.toMatchObject(denied);
    });
  });

  test('a listing goes on where the service says', async () => {
    const next = { 'x-ms-continuation-NextPartitionKey': '1!4!MDA-', 'x-ms-continuation-NextRowKey': '1!8!YS5i' };
    const replies = [
      azureText(200, { ...JSON_TYPE, ...next }, '{"value":[{"RowKey":"a.1"}]}'),
      azureText(200, JSON_TYPE, '{"value":[]}'),
    ];
    const { driver, server } = await served(({ socket }) => socket.write(replies.shift()!));
    const page = await driver.list('a', undefined, 1, CALL);
    expect(page.ids).toEqual(['a.1']);
    expect(await driver.list('a', page.cursor, 1, CALL)).toEqual({ ids: [], cursor: '1' });
    const asked = server.requests.map(({ target }) => new URL(target, 'http://any'));
    const page1 = {
      $select: 'RowKey',
      $top: '1',
      $filter: "PartitionKey eq '00' and RowKey ge 'a' and RowKey lt 'b'",
    };
    expect(asked.map(({ pathname }) => pathname)).toEqual(['/table()', '/table()']);
    expect(asked.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
      page1,
      { ...page1, NextPartitionKey: '1!4!MDA-', NextRowKey: '1!8!YS5i' },
    ]);
  });

  describe('a reply to a transaction', () => {
    test.each([
      ['has no body', BATCH_TYPE, ''],
      ['names no boundary', { 'Content-Type': 'multipart/mixed' }, BOTH],
      ['names another boundary', { 'Content-Type': 'multipart/mixed; boundary=other' }, BOTH],
      ['is no multipart', JSON_TYPE, '{}'],
      ['has one member too few', BATCH_TYPE, multipart(member(204))],
      ['has one too many', BATCH_TYPE, multipart(member(204), member(204), member(204))],
      ['has none', BATCH_TYPE, multipart()],
      ['has a member without an etag', BATCH_TYPE, multipart(member(204), member(204, 'X: y\r\n'))],
      ['has a member without a status', BATCH_TYPE, multipart(member(204), member(204).replace('HTTP/1.1', 'HTTP'))],
      ['tells of success and refusal', BATCH_TYPE, multipart(member(204), CONFLICT)],
      ['tells of two refusals', BATCH_TYPE, multipart(CONFLICT, CONFLICT)],
      ['has two change sets', BATCH_TYPE, BOTH.replace('--out--', BOTH)],
      ['lacks its last delimiter', BATCH_TYPE, BOTH.replace('--out--\r\n', '')],
      ['lacks the delimiter of its change set', BATCH_TYPE, NEITHER.replace('--in--\r\n', '')],
      ['breaks off as another member begins', BATCH_TYPE, NEITHER.replace('--in--', '--in')],
      ['breaks off as another change set begins', BATCH_TYPE, BOTH.replace('--out--', '--out')],
      ['has lines of another end', BATCH_TYPE, BOTH.replaceAll('\r\n', '\n')],
      [
        'has an inner failure of the service',
        BATCH_TYPE,
        multipart(member(500, 'X: y\r\n', odataError('InternalError'))),
      ],
    ])('that %s leaves it unknown, sent once', async (_, headers, body) => {
      const { driver, server } = await served(({ socket }) => socket.write(azureText(202, headers, body)));
      expect(await together(driver)).toMatchObject([UNKNOWN, UNKNOWN]);
      expect(server.requests).toHaveLength(1);
    });

    test('that tells of a missing table makes one, and the transaction is sent again, for it had no effect', async () => {
      const missing = multipart(member(404, 'X: y\r\n', odataError('TableNotFound')));
      const replies = [azureText(202, BATCH_TYPE, missing), azureText(204, {}), azureText(202, BATCH_TYPE, BOTH)];
      const { driver, server } = await served(({ socket }) => socket.write(replies.shift()!));
      expect(await together(driver)).toMatchObject([{ kind: 'written' }, { kind: 'written' }]);
      expect(server.requests.map(({ target }) => target)).toEqual(['/$batch', '/Tables', '/$batch']);
    });

    test('the request names the etag of each change, and none for an insert', async () => {
      const { driver, server } = await served(({ socket }) => socket.end());
      const [a, b] = idsOfOneLane(driver, 'x', 2);
      const version = entityVersion('W/"v1"');
      const calls = opened(callsAt(server));
      const keys = { partition: '00', properties: { h: ['AA=='] } };
      const writes = [
        { ...keys, row: a! },
        { ...keys, row: b!, change: { mode: 'Merge', etag: version } as const },
      ];
      await expect(calls.submit(writes, 1e9)).rejects.toThrow('socket hang up');
      await expect(
        calls.submit([{ ...keys, row: a!, change: { mode: 'Replace', etag: entityVersion('*') } }], 1e9),
      ).rejects.toThrow(TypeError);
      expect(server.requests.map(({ target }) => target)).toEqual(['/account/$batch?sig=s']);
      const text = server.requests[0]!.body.toString();
      expect(text).not.toContain('sig=');
      expect(text.match(/^(POST|PATCH|If-Match).*$/gm)).toEqual([
        `POST http://127.0.0.1:${server.port}/account/table HTTP/1.1`,
        `PATCH http://127.0.0.1:${server.port}/account/table(PartitionKey='00',RowKey='${b}') HTTP/1.1`,
        'If-Match: W/"v1"',
      ]);
    });
  });
});
