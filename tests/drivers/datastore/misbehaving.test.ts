// The Datastore driver against a service that breaks off or lies: requests leave once, doubt is
// `unknown`, and the next call is answered.
import { describe, expect, test } from 'vitest';
import { startDatastoreEmulator } from '../../../infra/emulators/datastore/index.ts';
import { part, patch, written } from '../../../shared/drivers/conformance/check-calls.ts';
import { datastoreAt, TRANSPORTS } from '../emulated.ts';
import { A, INSERT, READ } from '../one-of-each.ts';
import {
  type Asked,
  data,
  frame,
  frameServer,
  goaway,
  headers,
  message,
  reply,
  reset,
  RESPONSE_HEADERS,
  statusOnly,
  TYPE,
} from './servers.ts';
import { failingNetwork } from '../../support/failing-network.ts';
import { closedAfterEach } from '../../support/opened.ts';

const PATIENT = { timeoutMs: 20_000 };
const WRITTEN = [{ kind: 'written', version: '5' }];

/** A CommitResponse with one result, at version 5; a LookupResponse may be empty. */
const COMMITTED = Uint8Array.of(0x1a, 2, 0x20, 5);
/** The same with 20,000 bytes of a field that nobody asks for. */
const PADDED = Buffer.concat([COMMITTED, Uint8Array.of(0x7a, 0xa0, 0x9c, 1), Buffer.alloc(20_000)]);
const OK_TRAILERS = { 'grpc-status': '0' };

const opened = closedAfterEach();

async function serve(...asked: Parameters<typeof frameServer>) {
  return opened(await frameServer(...asked));
}

/** Fields of a thousand bytes each. */
function manyFields(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'a'.repeat(1_000)]));
}

type Reply = (stream: number) => Buffer;
type Case = [what: string, bytes: Reply, reason?: 'throttled' | undefined, retryable?: false];

/** A reply that begins as every one does. */
function begun(stream: number, ...frames: readonly Buffer[]): Buffer {
  return Buffer.concat([headers(stream, RESPONSE_HEADERS), ...frames]);
}

/** A reply of a page, as somebody between may give it. */
function page(stream: number, status: number): Buffer {
  const html = { ':status': String(status), 'content-type': 'text/html' };
  return Buffer.concat([headers(stream, html), data(stream, Buffer.from('<p>'), { isEnd: true })]);
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
  function driverAt({ address }: { readonly address: string }) {
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

  const LARGE = manyFields(15);

  test.each<[string, Reply]>([
    ['of more than a frame', (stream) => reply(stream, PADDED)],
    [
      'on a stream that is reset after its status',
      (stream) => Buffer.concat([reply(stream, COMMITTED), reset(stream, 0)]),
    ],
    [
      'with headers of just below 16 KiB',
      (stream) => inTrailers(stream, message(COMMITTED), OK_TRAILERS, { ...RESPONSE_HEADERS, ...LARGE }),
    ],
    [
      'with trailers of just below 16 KiB',
      (stream) => inTrailers(stream, message(COMMITTED), { ...LARGE, ...OK_TRAILERS }),
    ],
  ])('a reply %s is understood', async (_, bytes) => {
    const { driver } = await answered(({ stream }) => bytes(stream));
    expect(await driver.write([INSERT], PATIENT)).toEqual(WRITTEN);
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
    const cause = { code: 'unavailable', retryable: true, message: expect.stringMatching(told) as string };
    expect(await driver.write([INSERT], PATIENT)).toMatchObject([{ kind: 'refused', reason: 'unsent', cause }]);
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

    test('of a service that closes as soon as it is asked makes the driver dial twice at most', async () => {
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
    const FAILED = { 'grpc-status': '9' };
    const others = { ...RESPONSE_HEADERS, ':status': '503', 'grpc-status': '7' };

    test.each<[string, string, string, Reply]>([
      ['6 in headers alone', 'refused', 'condition', (stream) => statusOnly(stream, 6)],
      ['99 in headers alone', 'unknown', 'other', (stream) => statusOnly(stream, 99)],
      ['7 beside another of HTTP', 'refused', 'denied', (stream) => headers(stream, others, { isEnd: true })],
      ['9 behind a message', 'refused', 'denied', (stream) => inTrailers(stream, message(COMMITTED), FAILED)],
    ])('of %s is the verdict: %s (%s)', async (_, kind, reason, bytes) => {
      const { server, driver } = await answered(({ stream }) => bytes(stream));
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
  });

  test.each([
    ['UNAVAILABLE', 'unknown'],
    ['ABORTED', 'refused'],
    ['DEADLINE_EXCEEDED', 'unknown'],
    ['INTERNAL', 'unknown'],
  ] as const)('rule 2: each kind of request is sent once though it is answered %s (%s)', async (code, kind) => {
    const network = failingNetwork<typeof code>();
    const emulator = opened(await startDatastoreEmulator({ network }));
    const driver = opened(datastoreAt(transport, `http://${emulator.address}`, { projectId: 'p' }));
    const version = await written(driver, INSERT);
    // Lets the probe pass.
    await written(driver, patch(A, version, [part('h', 'y', 1)]));
    network.fail({ refusal: code });
    await expect(driver.read(READ, PATIENT)).rejects.toMatchObject({ code: 'unavailable' });
    await expect(driver.list('a', undefined, 1, PATIENT)).rejects.toMatchObject({ code: 'unavailable' });
    expect(network.hits()).toBe(2);
    expect(await driver.write([patch(A, version, [part('h', 'z', 1)])], PATIENT)).toMatchObject([{ kind }]);
    expect(network.hits()).toBe(3);
    expect(await driver.remove([{ id: A, version }], PATIENT)).toMatchObject([{ kind }]);
    expect(network.hits()).toBe(4);
  });

  const provesNothing: Case[] = [
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 255].map((code): Case => [
      `a reset with code ${code}`,
      (stream) => reset(stream, code),
    ]),
    ['a reset with ENHANCE_YOUR_CALM', (stream) => reset(stream, 11), 'throttled'],
    ['a reset with INADEQUATE_SECURITY', (stream) => reset(stream, 12), undefined, false],
    ...[0, 2, 7, 8].map((code): Case => [
      `a reset with code ${code} after the message`,
      (stream) => begun(stream, data(stream, message(COMMITTED)), reset(stream, code)),
    ]),
    ['a GOAWAY that does not count the stream', (stream) => goaway(stream - 1)],
    ...[1, 2, 7].map((code): Case => [`a GOAWAY with error ${code}`, (stream) => goaway(stream, code)]),
    ['OK without a message', (stream) => begun(stream, headers(stream, OK_TRAILERS, { isEnd: true }))],
    ['a status of no number', (stream) => begun(stream, headers(stream, { 'grpc-status': 'OK' }, { isEnd: true }))],
    ['trailers without a status', (stream) => begun(stream, headers(stream, { 'x-other': '1' }, { isEnd: true }))],
    ['a message without a status', (stream) => begun(stream, data(stream, message(COMMITTED), { isEnd: true }))],
    ['headers alone, without a status', (stream) => headers(stream, RESPONSE_HEADERS, { isEnd: true })],
    ...[200, 400, 429, 500, 503].map((status): Case => [`a page, ${status}`, (stream) => page(stream, status)]),
    ...[401, 403, 404].map((status): Case => [`a page, ${status}`, (stream) => page(stream, status), undefined, false]),
    [
      'a denial of HTTP that says it is gRPC',
      (stream) => headers(stream, { ...RESPONSE_HEADERS, ':status': '403' }, { isEnd: true }),
      undefined,
      false,
    ],
    ['a commit of no version', (stream) => reply(stream, Uint8Array.of(0x1a, 0))],
    ['a reply shorter than it says', (stream) => inTrailers(stream, message(COMMITTED, { sizeBytes: 5 }))],
    ['a reply longer than it says', (stream) => inTrailers(stream, message(COMMITTED, { sizeBytes: 3 }))],
    ['a reply of half a prefix', (stream) => inTrailers(stream, Buffer.alloc(3))],
    ['a reply that is compressed', (stream) => inTrailers(stream, message(COMMITTED, { flag: 1 }))],
    ['a reply that would be of 2 GiB', (stream) => inTrailers(stream, message(COMMITTED, { sizeBytes: 2 ** 31 }))],
    ['a reply that is no message of the API', (stream) => inTrailers(stream, message(Uint8Array.of(0x1a, 200)))],
  ];

  // gRPC's library takes more, waits for the deadline, or pauses before it dials again.
  const provesNothingToUs: Case[] = [
    ['a reply of two messages', (stream) => inTrailers(stream, Buffer.concat(Array(2).fill(message(COMMITTED))))],
    [
      'trailers of 16 KiB and more',
      (stream) => inTrailers(stream, message(COMMITTED), { ...manyFields(17), ...OK_TRAILERS }),
    ],
    [
      'headers of 16 KiB and more',
      (stream) => inTrailers(stream, message(COMMITTED), OK_TRAILERS, { ...RESPONSE_HEADERS, ...manyFields(17) }),
    ],
    [
      'a frame larger than was agreed',
      (stream) =>
        begun(stream, frame(TYPE.DATA, 0, stream, message(PADDED)), headers(stream, OK_TRAILERS, { isEnd: true })),
    ],
    ['a reply to a stream that was never opened', (stream) => reply(stream + 2, COMMITTED)],
    ['a frame that is none', (stream) => frame(TYPE.HEADERS, 4, stream, Buffer.alloc(10, 0xff))],
  ];

  // Our own transport takes a status of gRPC for one, whatever else comes with it.
  const provesNothingToTheSdk: Case[] = [
    [
      'a denial in a page',
      (stream) =>
        headers(stream, { ':status': '200', 'content-type': 'text/html', 'grpc-status': '7' }, { isEnd: true }),
      undefined,
      false,
    ],
  ];

  const cases = [...provesNothing, ...(transport === 'own' ? provesNothingToUs : provesNothingToTheSdk)];
  test.each(cases)('rule 2: %s proves nothing, and nothing is sent again', async (_, bytes, reason, retryable) => {
    await expectUnknown(await answered(({ stream }) => bytes(stream)), reason, retryable);
  });
});
