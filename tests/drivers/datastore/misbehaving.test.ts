// The Datastore driver against a service that breaks off or lies: requests leave once, doubt is
// `unknown`, and the next call is answered.
import { describe, expect, test } from 'vitest';
import { startDatastoreEmulator } from '../../../infra/emulators/datastore/index.ts';
import { part, patch, written } from '../../conformance/harness.ts';
import { datastoreAt, TRANSPORTS } from '../emulated.ts';
import { A, INSERT, READ } from '../one-of-each.ts';
import {
  type Asked,
  type Connection,
  data,
  frame,
  type FrameServer,
  frameServer,
  goaway,
  headers,
  message,
  reply,
  reset,
  RESPONSE_HEADERS,
  statusOnly,
  TYPE,
} from './frames.ts';
import { closedAfterEach } from '../../support/opened.ts';

const PATIENT = { timeoutMs: 20_000 };
const WRITTEN = [{ kind: 'written', version: '5' }];

/** A CommitResponse with one result, at version 5; a LookupResponse may be empty. */
const COMMITTED = Uint8Array.of(0x1a, 2, 0x20, 5);
/** The same with 20,000 bytes of a field that nobody asks for. */
const PADDED = Buffer.concat([COMMITTED, Uint8Array.of(0x7a, 0xa0, 0x9c, 1), Buffer.alloc(20_000)]);
const OK_TRAILERS = { 'grpc-status': '0' };

const opened = closedAfterEach();

async function serve(...asked: Parameters<typeof frameServer>): Promise<FrameServer> {
  return opened(await frameServer(...asked));
}

async function drip({ socket }: Connection, bytes: Buffer, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    socket.write(bytes.subarray(at, at + pieceBytes));
    await new Promise(setImmediate);
  }
}

/** Fields of a thousand bytes each. */
function manyFields(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a'.repeat(1_000)]));
}

/** A reply of these bytes, and what follows them. */
function inTrailers(
  stream: number,
  bytes: Buffer,
  fields: Readonly<Record<string, string>> = OK_TRAILERS,
  before: Readonly<Record<string, string>> = RESPONSE_HEADERS,
): Buffer {
  return Buffer.concat([headers(stream, before), data(stream, bytes), headers(stream, fields, { isEnd: true })]);
}

describe.each(TRANSPORTS)('over the transport %s', (transport) => {
  function driverAt({ address }: FrameServer) {
    return opened(datastoreAt(transport, address, { projectId: 'p' }));
  }

  /**
   * A driver whose service gives this to every request but the healing ones, which it answers as it
   * should.
   */
  async function answered(bytesFor: (asked: Asked) => Uint8Array, { after }: { after?: (asked: Asked) => void } = {}) {
    let isHealed = false;
    const server = await serve((asked) => {
      const { connection, stream } = asked;
      connection.socket.write(isHealed ? reply(stream, COMMITTED) : bytesFor(asked));
      if (!isHealed) after?.(asked);
    });
    const driver = driverAt(server);
    return { server, driver, heal: () => (isHealed = true) };
  }

  type Answered = Awaited<ReturnType<typeof answered>>;

  /**
   * The write is unknown and the read unavailable, each was sent once, and the next ones are
   * answered.
   */
  async function expectUnknown(
    { server, driver, heal }: Answered,
    reason: 'other' | 'throttled' = 'other',
    retryable = true,
  ) {
    const code = reason === 'throttled' ? 'throttled' : 'unavailable';
    expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'unknown', reason }]);
    expect(server.messages).toHaveLength(1);
    await expect(driver.read(READ, PATIENT)).rejects.toMatchObject({ code, retryable });
    expect(server.messages).toHaveLength(2);
    heal();
    expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
    expect(server.messages).toHaveLength(3);
  }

  test('a reply of more than a frame is understood', async () => {
    const { driver } = await answered(({ stream }) => reply(stream, PADDED));
    expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
  });

  test('a reply is understood whether it comes at once or byte by byte', async () => {
    for (const pieceBytes of [1_000, 1]) {
      const server = await serve(
        ({ connection, stream }) => void drip(connection, reply(stream, COMMITTED), pieceBytes),
      );
      expect(await driverAt(server).write([INSERT], PATIENT)).toEqual(WRITTEN);
    }
  });

  test.each(['127.0.0.1', 'localhost'])('a service that cannot be reached is named, and why: %s', async (host) => {
    const server = await serve(() => {});
    const address = `http://${host}:${new URL(server.address).port}`;
    server.close();
    const driver = opened(datastoreAt(transport, address, { projectId: 'p' }));
    const lost = transport === 'own' ? `the connection to ${address} is lost: ` : '';
    const told = new RegExp(`^datastore did not answer, try again: ${lost}.*ECONNREFUSED`);
    await expect(driver.read(READ, PATIENT)).rejects.toThrow(told);
    await expect(driver.list('', undefined, 1, PATIENT)).rejects.toThrow(told);
    expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'unknown', reason: 'other' }]);
  });

  describe('a connection that ends within a reply', () => {
    const whole = reply(1, COMMITTED).length;

    // gRPC's library tells these ways alike, and takes long to connect anew.
    const ways = transport === 'own' ? (['destroy', 'resetAndDestroy', 'end'] as const) : (['destroy'] as const);
    test.each(ways)('after any of its bytes (%s)', async (way) => {
      for (let sent = 0; sent < whole; sent += 1) {
        const broken = await answered(({ stream }) => reply(stream, COMMITTED).subarray(0, sent), {
          // Once what was written has left.
          after: ({ connection }) => setImmediate(() => connection.socket[way]()),
        });
        await expectUnknown(broken);
        await broken.driver.close();
        broken.server.close();
      }
    });
  });

  describe('a stream that is reset', () => {
    test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 255])('with code %i before anything was said', async (code) => {
      await expectUnknown(await answered(({ stream }) => reset(stream, code)));
    });

    test('with ENHANCE_YOUR_CALM asks to slow down', async () => {
      await expectUnknown(await answered(({ stream }) => reset(stream, 11)), 'throttled');
    });

    test('with INADEQUATE_SECURITY asks for other credentials', async () => {
      await expectUnknown(await answered(({ stream }) => reset(stream, 12)), 'other', false);
    });

    test.each([0, 2, 7, 8])('with code %i after the message, and before its status', async (code) => {
      await expectUnknown(
        await answered(({ stream }) =>
          Buffer.concat([headers(stream, RESPONSE_HEADERS), data(stream, message(COMMITTED)), reset(stream, code)]),
        ),
      );
    });

    test('after its status changes nothing about that', async () => {
      const { driver } = await answered(({ stream }) => Buffer.concat([reply(stream, COMMITTED), reset(stream, 0)]));
      expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
    });
  });

  describe('GOAWAY', () => {
    test('lets the streams that it counts go on, and the next call takes another connection', async () => {
      const { server, driver } = await answered(({ stream }) =>
        Buffer.concat([goaway(stream), reply(stream, COMMITTED)]),
      );
      expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
      expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
      expect(server.connections).toHaveLength(2);
      expect(server.messages).toHaveLength(2);
    });

    test('in two steps, as servers announce their end, loses nothing', async () => {
      const { server, driver } = await answered(({ stream }) =>
        Buffer.concat([goaway(2 ** 31 - 1), reply(stream, COMMITTED), goaway(stream)]),
      );
      for (let count = 1; count <= 3; count += 1) {
        expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
        expect(server.messages).toHaveLength(count);
      }
    });

    test('rule 2: that does not count a stream ends it, and it is not sent again', async () => {
      await expectUnknown(await answered(({ stream }) => goaway(stream - 1)));
    });

    test('of several streams refuses the later ones alone', async () => {
      const asked: Asked[] = [];
      const server = await serve((one) => {
        asked.push(one);
        if (asked.length < 3) return;
        const [first] = asked.toSorted((a, b) => a.stream - b.stream);
        one.connection.socket.write(Buffer.concat([goaway(first!.stream), reply(first!.stream, COMMITTED)]));
      });
      const driver = driverAt(server);
      const outcomes = await Promise.all(Array.from({ length: 3 }, () => driver.write([INSERT], PATIENT)));
      expect(outcomes.filter(([outcome]) => outcome?.kind === 'written')).toHaveLength(1);
      expect(outcomes.filter(([outcome]) => outcome?.kind === 'unknown')).toHaveLength(2);
      expect(server.messages).toHaveLength(3);
    });

    test.each([1, 2, 7])('with error %i ends all streams, counted or not', async (code) => {
      await expectUnknown(await answered(({ stream }) => goaway(stream, code)));
    });

    test('of a service that is closing as soon as it is asked is no reason to dial for ever', async () => {
      const server = await serve(() => {});
      const driver = driverAt(server);
      const writing = driver.write([INSERT], PATIENT);
      await expect.poll(() => server.connections.length).toBe(1);
      server.connections[0]!.socket.write(goaway(0));
      expect(await writing).toMatchObject([{ kind: 'unknown' }]);
      expect(server.connections.length).toBeLessThanOrEqual(2);
    });
  });

  describe('a status', () => {
    test.each([
      [6, 'refused', 'condition'],
      [7, 'refused', 'denied'],
      [8, 'unknown', 'throttled'],
      [14, 'unknown', 'other'],
      [99, 'unknown', 'other'],
    ])('of %i in headers alone is the verdict: %s (%s)', async (code, kind, reason) => {
      const { server, driver } = await answered(({ stream }) => statusOnly(stream, code));
      expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind, reason }]);
      expect(server.messages).toHaveLength(1);
    });

    // gRPC's library leaves some of it encoded.
    test.skipIf(transport === 'sdk').each([
      ['zu%20viel%3A 100%25 f%C3%BCr%20heute', 'zu viel: 100% für heute'],
      ['100% wrong %E0%A4%A', '100% wrong %E0%A4%A'],
    ])('has a message in percent-encoding: %s', async (encoded, decoded) => {
      const { driver } = await answered(({ stream }) => statusOnly(stream, 7, encoded));
      const [outcome] = await driver.write([INSERT], PATIENT);
      expect(outcome).toMatchObject({ kind: 'refused', cause: { cause: { code: 7, message: decoded } } });
    });

    test('that follows a message in trailers is the verdict', async () => {
      const { driver } = await answered(({ stream }) => inTrailers(stream, message(COMMITTED), { 'grpc-status': '9' }));
      expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'refused' }]);
    });

    test.each([
      ['OK without a message', (stream: number) => [headers(stream, OK_TRAILERS, { isEnd: true })]],
      ['of no number', (stream: number) => [headers(stream, { 'grpc-status': 'OK' }, { isEnd: true })]],
      ['that is missing in trailers', (stream: number) => [headers(stream, { 'x-other': '1' }, { isEnd: true })]],
      ['that is missing after the message', (stream: number) => [data(stream, message(COMMITTED), { isEnd: true })]],
    ])('%s proves nothing', async (_, framesBehind) => {
      await expectUnknown(
        await answered(({ stream }) => Buffer.concat([headers(stream, RESPONSE_HEADERS), ...framesBehind(stream)])),
      );
    });

    test('that is missing where headers are the whole reply proves nothing', async () => {
      await expectUnknown(await answered(({ stream }) => headers(stream, RESPONSE_HEADERS, { isEnd: true })));
    });

    test.each([
      [400, true],
      [401, false],
      [403, false],
      [404, false],
      [429, true],
      [500, true],
      [503, true],
    ])('of HTTP (%i) is no verdict: anybody between may have said it', async (status, retryable) => {
      const html = { ':status': String(status), 'content-type': 'text/html' };
      await expectUnknown(
        await answered(({ stream }) =>
          Buffer.concat([headers(stream, html), data(stream, Buffer.from('<p>'), { isEnd: true })]),
        ),
        'other',
        retryable,
      );
    });

    test('of HTTP counts for nothing beside one of gRPC', async () => {
      const { driver } = await answered(({ stream }) =>
        headers(stream, { ...RESPONSE_HEADERS, ':status': '503', 'grpc-status': '7' }, { isEnd: true }),
      );
      expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'refused', reason: 'denied' }]);
    });
  });

  test.each([
    ['UNAVAILABLE', 'unknown'],
    ['ABORTED', 'refused'],
    ['DEADLINE_EXCEEDED', 'unknown'],
    ['INTERNAL', 'unknown'],
  ] as const)('rule 2: each kind of request is sent once though it is answered %s (%s)', async (code, kind) => {
    const emulator = opened(await startDatastoreEmulator());
    const driver = opened(datastoreAt(transport, `http://${emulator.address}`, { projectId: 'p' }));
    const version = await written(driver, INSERT);
    // Lets the probe pass.
    await written(driver, patch(A, version, [part('h', 'y', 1)]));
    const fault = emulator.faults.add({ code, when: 'before' });
    await expect(driver.read(READ, PATIENT)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(driver.list('a', undefined, 1, PATIENT)).rejects.toMatchObject({ code: 'unavailable' });
    expect(fault.hits).toBe(2);
    expect(await driver.write([patch(A, version, [part('h', 'z', 1)])], PATIENT)).toMatchObject([{ kind }]);
    expect(fault.hits).toBe(3);
    expect(await driver.remove([{ id: A, version }], PATIENT)).toMatchObject([{ kind }]);
    expect(fault.hits).toBe(4);
  });

  test.each(['headers', 'trailers'])('a reply with %s of just below 16 KiB is understood', async (where) => {
    const large = manyFields(15);
    const { driver } = await answered(({ stream }) =>
      where === 'headers'
        ? inTrailers(stream, message(COMMITTED), OK_TRAILERS, { ...RESPONSE_HEADERS, ...large })
        : inTrailers(stream, message(COMMITTED), { ...large, ...OK_TRAILERS }),
    );
    expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
  });

  describe('a reply', () => {
    test.each([
      [
        'that is a page',
        (stream: number) =>
          Buffer.concat([
            headers(stream, { ':status': '200', 'content-type': 'text/html' }),
            data(stream, Buffer.from('<p>'), { isEnd: true }),
          ]),
      ],
      ['that is shorter than it says', (stream: number) => inTrailers(stream, message(COMMITTED, { sizeBytes: 5 }))],
      ['that is longer than it says', (stream: number) => inTrailers(stream, message(COMMITTED, { sizeBytes: 3 }))],
      ['of half a prefix', (stream: number) => inTrailers(stream, Buffer.alloc(3))],
      ['that is compressed', (stream: number) => inTrailers(stream, message(COMMITTED, { flag: 1 }))],
      ['that would be of 2 GiB', (stream: number) => inTrailers(stream, message(COMMITTED, { sizeBytes: 2 ** 31 }))],
      ['that is no message of the API', (stream: number) => inTrailers(stream, message(Uint8Array.of(0x1a, 200)))],
    ])('%s proves nothing', async (_, bytes) => {
      await expectUnknown(await answered(({ stream }) => bytes(stream)));
    });

    // gRPC's library takes more, waits for the deadline, or pauses before it dials again.
    test.skipIf(transport === 'sdk').each([
      [
        'of two messages',
        (stream: number) => inTrailers(stream, Buffer.concat([message(COMMITTED), message(COMMITTED)])),
      ],
      [
        'with trailers of 16 KiB and more',
        (stream: number) => inTrailers(stream, message(COMMITTED), { ...manyFields(17), ...OK_TRAILERS }),
      ],
      [
        'with headers of 16 KiB and more',
        (stream: number) =>
          inTrailers(stream, message(COMMITTED), OK_TRAILERS, { ...RESPONSE_HEADERS, ...manyFields(17) }),
      ],
      [
        'with a frame larger than was agreed',
        (stream: number) =>
          Buffer.concat([
            headers(stream, RESPONSE_HEADERS),
            frame(TYPE.DATA, 0, stream, message(PADDED)),
            headers(stream, OK_TRAILERS, { isEnd: true }),
          ]),
      ],
      ['to a stream that was never opened', (stream: number) => reply(stream + 2, COMMITTED)],
      ['of a frame that is none', (stream: number) => frame(TYPE.HEADERS, 4, stream, Buffer.alloc(10, 0xff))],
    ])('%s proves nothing', async (_, bytes) => {
      await expectUnknown(await answered(({ stream }) => bytes(stream)));
    });
  });
});
