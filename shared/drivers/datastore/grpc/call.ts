// One unary call, from its request to its reply or error
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
import { type ClientHttp2Stream, constants } from 'node:http2';

export interface Request {
  /** `/package.Service/Method` */
  readonly path: string;
  /** In its gRPC frame. */
  readonly message: Buffer;
  readonly timeoutMs: number;
  /** It also ends after a silence of this length. Default: never. */
  readonly silenceMs?: number;
  /** Called at the stream's end if all was written, so that the memory is free. */
  readonly written?: () => void;
}

/** The connection of a stream. */
export interface StreamListener {
  /** The bytes of all replies that came on it. */
  readonly replyBytes: number;
  heard(bytes: number): void;
  closed(call: Call, http2Code: number): void;
}

/** A call is not silent if its connection brings so many bytes for others, which are in its way. */
const SLOW_BYTES_LEAST = 32 * 1024;

const END_STREAM = constants.NGHTTP2_FLAG_END_STREAM;

/** Ends once, by a reply, an error or its deadline. It is sent at most once. */
export class Call {
  readonly request: Request;
  /** All times here are of `performance.now()`. */
  readonly begunMs: number;
  /** When it was sent; undefined as long as it waits. */
  sentMs: number | undefined;
  #stream: ClientHttp2Stream | undefined;
  #isAnswered = false;
  /** When a part of its reply came last, or else when it began. */
  #heardMs: number;
  #connection: StreamListener | undefined;
  /** The bytes that its connection had brought by then. */
  #heardBytes = 0;
  #settle: ((result: Buffer | Error) => void) | undefined;

  constructor(request: Request, nowMs: number, settle: (result: Buffer | Error) => void) {
    this.request = request;
    this.begunMs = nowMs;
    this.#heardMs = nowMs;
    this.#settle = settle;
  }

  /** Its deadline. */
  get untilMs(): number {
    return this.begunMs + this.request.timeoutMs;
  }

  /** When it ends if nothing comes. */
  get dueMs(): number {
    return Math.min(this.untilMs, this.#heardMs + (this.request.silenceMs ?? Infinity));
  }

  /** Whether it has to end now. It gets more time if much came for others on its connection. */
  isDue(nowMs: number): boolean {
    const bytes = this.#connection?.replyBytes ?? 0;
    if (this.dueMs <= nowMs && bytes - this.#heardBytes >= SLOW_BYTES_LEAST) {
      this.#heardMs = nowMs;
      this.#heardBytes = bytes;
    }
    return this.dueMs <= nowMs;
  }

  get isEnded(): boolean {
    return this.#settle === undefined;
  }

  /** `connection` is told of everything that comes, and of the stream's end. */
  send(stream: ClientHttp2Stream, nowMs: number, connection: StreamListener): void {
    this.sentMs = nowMs;
    this.#connection = connection;
    this.#heardBytes = connection.replyBytes;
    this.#stream = stream;
    const reply = new Reply();
    let cause: unknown;
    const take = (verdict: Verdict, bytes = 0) => {
      this.#heardMs = performance.now();
      connection.heard(bytes);
      this.#heardBytes = connection.replyBytes;
      if (verdict !== undefined) this.end(verdict);
    };
    stream.on('response', (headers, flags) => {
      this.#isAnswered = (flags & END_STREAM) !== 0;
      take(reply.headers(headers, this.#isAnswered));
    });
    stream.on('data', (piece: Buffer) => take(reply.data(piece), piece.byteLength));
    stream.on('trailers', (trailers) => {
      this.#isAnswered = true;
      take(reply.trailers(trailers));
    });
    stream.on('error', (error) => (cause = error));
    stream.on('close', () => {
      if (!this.isEnded) this.end(reply.end(stream.rstCode, cause));
      if (stream.writableFinished) this.request.written?.();
      connection.closed(this, stream.rstCode);
    });
    // In the same turn as the headers, so that one write sends both.
    stream.end(this.request.message);
  }

  /** Ends it, unless it has ended, and cancels its stream if that goes on. */
  end(result: Buffer | Error): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    const stream = this.#stream;
    const goesOn = stream !== undefined && !(this.#isAnswered && stream.writableFinished);
    if (goesOn) stream.close(constants.NGHTTP2_CANCEL);
    settle(result);
  }
}

/** Nothing bounds a lookup's reply; a request has at most 10 MiB. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const PREFIX_BYTES = 5;
/** Names and values. Node.js bounds them only after the service has agreed to its settings. */
const HEADERS_BYTES_MAX = 16 * 1024;

type Headers = Readonly<Record<string, unknown>>;

/** The result of the call; undefined as long as it goes on. */
export type Verdict = Buffer | StatusError | undefined;

export class Reply {
  #httpStatus = 0;
  #prefixBytes = 0;
  #isCompressed = false;
  #sizeBytes = 0;
  /** Has copies of the pieces, of which even the smallest would keep a whole read buffer alive. */
  #message: Buffer | undefined;
  #filledBytes = 0;
  #isOk = false;

  /** `isEnd`: the headers are the whole reply, with the content of trailers. */
  headers(headers: Headers, isEnd: boolean): Verdict {
    this.#httpStatus = Number(headers[':status']);
    if (isEnd) return this.trailers(headers);
    if (bytesOf(headers) > HEADERS_BYTES_MAX) return broken('its headers are too large');
    const isGrpc = String(headers['content-type']).startsWith('application/grpc');
    return this.#httpStatus === 200 && isGrpc ? undefined : statusOfHttp(this.#httpStatus);
  }

  data(piece: Buffer): Verdict {
    let at = 0;
    for (; this.#prefixBytes < PREFIX_BYTES && at < piece.length; at += 1) this.#prefix(piece[at]!);
    if (this.#prefixBytes < PREFIX_BYTES) return undefined;
    if (this.#isCompressed) return broken('it is compressed, which was not asked for');
    if (this.#sizeBytes > MESSAGE_BYTES_MAX) return broken(`it is too large: bytes=${this.#sizeBytes}`);
    this.#message ??= Buffer.allocUnsafe(this.#sizeBytes);
    if (piece.length - at > this.#sizeBytes - this.#filledBytes) return broken('it is longer than it says');
    this.#filledBytes += piece.copy(this.#message, this.#filledBytes, at);
    return this.#isOk ? this.#whole() : undefined;
  }

  trailers(headers: Headers): Verdict {
    if (bytesOf(headers) > HEADERS_BYTES_MAX) return broken('its trailers are too large');
    const error = statusIn(headers, this.#httpStatus);
    if (error !== undefined) return error;
    this.#isOk = true;
    return this.#whole();
  }

  /** The stream has closed, and no more will come. */
  end(http2Code: number, cause: unknown): StatusError {
    return this.#isOk ? broken('its message is not whole') : statusOfReset(http2Code, cause);
  }

  #prefix(byte: number): void {
    if (this.#prefixBytes === 0) this.#isCompressed = byte !== 0;
    else this.#sizeBytes = this.#sizeBytes * 0x100 + byte;
    this.#prefixBytes += 1;
  }

  #whole(): Buffer | undefined {
    return this.#message !== undefined && this.#filledBytes === this.#sizeBytes ? this.#message : undefined;
  }
}

function bytesOf(headers: Headers): number {
  let bytes = 0;
  for (const name in headers) bytes += name.length + String(headers[name]).length;
  return bytes;
}

function broken(why: string): StatusError {
  return new StatusError(CODE.INTERNAL, `a reply that gRPC does not allow: ${why}`);
}

/** The codes that this driver distinguishes or makes (grpc's doc/statuscodes.md). */
export const CODE = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** A call that did not end with OK. */
export class StatusError extends Error {
  readonly code: number;
  /** The service itself sent this code. Others never prove that a request had no effect. */
  readonly isVerdict: boolean;

  constructor(
    code: number,
    message: string,
    { isVerdict = false, cause }: { isVerdict?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StatusError';
    this.code = code;
    this.isVerdict = isVerdict;
  }
}

/** The error in headers or trailers, also if they have no status; undefined for OK. */
function statusIn(headers: Readonly<Record<string, unknown>>, httpStatus: number): StatusError | undefined {
  const status = headers['grpc-status'];
  if (status === '0') return undefined;
  if (typeof status === 'string' && /^\d{1,9}$/.test(status))
    return new StatusError(Number(status), decodedMessage(headers['grpc-message']), { isVerdict: true });
  return statusOfHttp(httpStatus);
}

/** HTTP statuses that mean more than "try again" (grpc's doc/http-grpc-status-mapping.md). */
function statusOfHttp(httpStatus: number): StatusError {
  const codes: Readonly<Record<number, number>> = {
    401: CODE.UNAUTHENTICATED,
    403: CODE.PERMISSION_DENIED,
    404: CODE.UNIMPLEMENTED,
  };
  return new StatusError(codes[httpStatus] ?? CODE.UNAVAILABLE, `a reply without a gRPC status: http=${httpStatus}`);
}

/**
 * Not even REFUSED_STREAM is a verdict: servers refused streams that they had delivered
 * (github.com/nghttp2/nghttp2/issues/2870).
 */
function statusOfReset(http2Code: number, cause: unknown): StatusError {
  const codes: Readonly<Record<number, number>> = {
    [constants.NGHTTP2_ENHANCE_YOUR_CALM]: CODE.RESOURCE_EXHAUSTED,
    [constants.NGHTTP2_INADEQUATE_SECURITY]: CODE.PERMISSION_DENIED,
  };
  const message = `the stream ended before the reply was whole: http2=${http2Code}`;
  return new StatusError(codes[http2Code] ?? CODE.UNAVAILABLE, message, { cause });
}

/** Decodes percent-encoded UTF-8. Other text stays as it is. */
function decodedMessage(message: unknown): string {
  if (typeof message !== 'string') return '';
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
