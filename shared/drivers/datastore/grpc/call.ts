// One unary call, from its request to its result.
import { type ClientHttp2Stream, constants } from 'node:http2';
import { Reply, type Verdict } from './reply.ts';

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
