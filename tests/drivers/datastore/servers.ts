// HTTP/2 servers. One is made of frames (https://www.rfc-editor.org/rfc/rfc9113) and says exactly
// what a test wants, allowed or not. The other is Node's own, for what frames made by hand do not
// show: headers, TLS, flow control.
import { createServer, type Socket } from 'node:net';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { listening } from '../../support/listening.ts';
import type { closedAfterEach } from '../../support/opened.ts';

export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const;
const ACK = 1;
const END_STREAM = 1;
const END_HEADERS = 4;
const MAX_CONCURRENT_STREAMS = 3;
const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;
const FRAME_BYTES = 16_384;

/** A request that has come whole. */
export interface Asked {
  readonly connection: Connection;
  readonly stream: number;
  /** Its message, without the prefix of gRPC. */
  readonly message: Buffer;
}

export interface Connection {
  readonly socket: Socket;
  /** Streams whose headers came, and which neither side has ended. */
  readonly open: Set<number>;
  /** Codes of the RST_STREAMs that came, by stream. */
  readonly reset: Map<number, number>;
  pings: number;
  answersPings: boolean;
}

interface FrameServerOptions {
  /** SETTINGS_MAX_CONCURRENT_STREAMS. Default: not said. */
  readonly streamsMax?: number;
  /** Further connections are closed at once. Default: none are. */
  readonly connectionsMax?: number;
  /** False: connections are taken, and nothing is said. Default true. */
  readonly greets?: boolean;
}

export async function frameServer(
  answer: (asked: Asked) => void,
  { streamsMax, connectionsMax, greets = true }: FrameServerOptions = {},
) {
  const connections: Connection[] = [];
  /** All requests that came whole, in hexadecimal. */
  const messages: string[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = { socket, open: new Set<number>(), reset: new Map(), pings: 0, answersPings: true };
    connections.push(connection);
    // A socket that a test cuts off is reset on the other side too.
    socket.on('error', () => {});
    if (!greets) return;
    socket.write(settings(streamsMax));
    hear(connection, (asked) => {
      messages.push(asked.message.toString('hex'));
      answer(asked);
    });
  });
  /** Connections that were closed at once. */
  let dropped = 0;
  if (connectionsMax !== undefined) server.maxConnections = connectionsMax;
  server.on('drop', () => (dropped += 1));
  const address = `http://127.0.0.1:${await listening(server)}`;
  const close = () => {
    server.close();
    for (const { socket } of connections) socket.destroy();
  };
  return { address, connections, messages, dropped: () => dropped, close };
}

/** Takes what the client says apart, as far as tests want to know. */
function hear(connection: Connection, asked: (asked: Asked) => void): void {
  let rest = Buffer.alloc(0);
  let expected = PREFACE_BYTES;
  let hasPreface = false;
  const bodies = new Map<number, Buffer[]>();
  connection.socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      if (hasPreface && rest.length >= HEAD_BYTES) expected = HEAD_BYTES + rest.readUIntBE(0, 3);
      if (rest.length < expected) return;
      if (hasPreface) takeFrame(connection, rest.subarray(0, expected), bodies, asked);
      hasPreface = true;
      rest = rest.subarray(expected);
      expected = HEAD_BYTES;
      if (rest.length < HEAD_BYTES) return;
    }
  });
}

function takeFrame(
  connection: Connection,
  bytes: Buffer,
  bodies: Map<number, Buffer[]>,
  asked: (asked: Asked) => void,
): void {
  const [type, flags, stream] = [bytes[3]!, bytes[4]!, bytes.readUInt32BE(5)];
  const payload = bytes.subarray(HEAD_BYTES);
  if (type === TYPE.SETTINGS && flags !== ACK) connection.socket.write(frame(TYPE.SETTINGS, ACK, 0));
  if (type === TYPE.PING && flags !== ACK) {
    connection.pings += 1;
    if (connection.answersPings) connection.socket.write(frame(TYPE.PING, ACK, 0, payload));
  }
  if (type === TYPE.RST_STREAM) {
    connection.open.delete(stream);
    connection.reset.set(stream, payload.readUInt32BE(0));
  }
  if (type === TYPE.HEADERS) {
    connection.open.add(stream);
    bodies.set(stream, []);
  }
  if (type !== TYPE.DATA) return;
  bodies.get(stream)?.push(Buffer.from(payload));
  if ((flags & END_STREAM) === 0) return;
  asked({ connection, stream, message: Buffer.concat(bodies.get(stream) ?? []).subarray(5) });
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function settings(streamsMax: number | undefined): Buffer {
  if (streamsMax === undefined) return frame(TYPE.SETTINGS, 0, 0);
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(MAX_CONCURRENT_STREAMS, 0);
  setting.writeUInt32BE(streamsMax, 2);
  return frame(TYPE.SETTINGS, 0, 0, setting);
}

/** Headers, or trailers, none of them compressed, in frames of the size that everyone takes. */
export function headers(stream: number, fields: Readonly<Record<string, string>>, { isEnd = false } = {}): Buffer {
  const block = Buffer.concat(
    Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
  );
  const pieces = piecesOf(block);
  const frames = pieces.map((piece, index) => {
    const flags = (index === pieces.length - 1 ? END_HEADERS : 0) | (index === 0 && isEnd ? END_STREAM : 0);
    return frame(index === 0 ? TYPE.HEADERS : TYPE.CONTINUATION, flags, stream, piece);
  });
  return Buffer.concat(frames);
}

/** A string of HPACK (RFC 7541, section 5.2) of up to 16 KiB. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const size =
    bytes.length < 127 ? [bytes.length] : [127, ((bytes.length - 127) & 127) | 128, (bytes.length - 127) >> 7];
  return Buffer.concat([Buffer.from(size), bytes]);
}

/** Data frames of the size that everyone takes. */
export function data(stream: number, bytes: Uint8Array, { isEnd = false } = {}): Buffer {
  const pieces = piecesOf(bytes);
  const frames = pieces.map((piece, index) =>
    frame(TYPE.DATA, isEnd && index === pieces.length - 1 ? END_STREAM : 0, stream, piece),
  );
  return Buffer.concat(frames);
}

function piecesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.length / FRAME_BYTES));
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES));
}

export function reset(stream: number, code: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(code);
  return frame(TYPE.RST_STREAM, 0, stream, payload);
}

/** Room to send so many more bytes on the connection. */
export function room(bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(TYPE.WINDOW_UPDATE, 0, 0, payload);
}

export function goaway(lastStream: number, code = 0): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeUInt32BE(lastStream, 0);
  payload.writeUInt32BE(code, 4);
  return frame(TYPE.GOAWAY, 0, 0, payload);
}

/** A message in its gRPC prefix, which may lie. */
export function message(bytes: Uint8Array, { sizeBytes = bytes.length, flag = 0 } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(sizeBytes, 1);
  return Buffer.concat([prefix, bytes]);
}

export const RESPONSE_HEADERS = { ':status': '200', 'content-type': 'application/grpc' };

/** The whole reply to a request. */
export function reply(stream: number, bytes: Uint8Array): Buffer {
  const trailers = headers(stream, { 'grpc-status': '0' }, { isEnd: true });
  return Buffer.concat([headers(stream, RESPONSE_HEADERS), data(stream, message(bytes)), trailers]);
}

/** A reply of a status alone. */
export function statusOnly(stream: number, code: number, detail = ''): Buffer {
  const fields = {
    ...RESPONSE_HEADERS,
    'grpc-status': String(code),
    ...(detail === '' ? {} : { 'grpc-message': detail }),
  };
  return headers(stream, fields, { isEnd: true });
}

/** Answers a request, when it has come whole, with these bytes and the status OK. */
export function replyWith(stream: ServerHttp2Stream, replyTo: (request: Buffer) => Uint8Array): void {
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  stream.on('end', () => {
    stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(replyTo(Buffer.concat(parts)));
  });
}

/** A server whose connections end with the test; `seen` are the headers of all requests. */
export async function nodeServer(
  opened: ReturnType<typeof closedAfterEach>,
  serve: (stream: ServerHttp2Stream) => void,
  server: Http2Server = createHttp2Server(),
) {
  const sessions = new Set<{ destroy(): void }>();
  const seen: IncomingHttpHeaders[] = [];
  server.on('session', (session) => sessions.add(session));
  server.on('stream', (stream, headers) => {
    seen.push(headers);
    serve(stream);
  });
  const close = (): void => {
    for (const session of sessions) session.destroy();
    server.close();
  };
  opened({ close });
  const port = await listening(server);
  return { port, address: `http://127.0.0.1:${port}`, seen };
}
